// Arrays of doubles that grow from size to size, each written and read back in a file of its own, several
// times: metadata and transfers by turns, as h5bench's exerciser has it.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "base/format.hpp"
#include "tools/bench/datasets.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernels.hpp"

namespace forebay::kernels {
namespace {

constexpr std::uint64_t kMembers = 2;  // of a structure

// A dataset of doubles, or of structures of doubles.
struct Kind {
  const char* name;
  std::uint64_t doubles;  // of an element

  [[nodiscard]] Hid type() const {
    if (doubles == 1) return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose, "make a type"};
    Hid made(H5Tcreate(H5T_COMPOUND, doubles * sizeof(double)), H5Tclose, "make a type");
    for (std::uint64_t i = 0; i < doubles; ++i)
      must(H5Tinsert(made.get(), format_text("member_{}", i).c_str(), i * sizeof(double), H5T_NATIVE_DOUBLE),
           "make a type");
    return made;
  }
};
constexpr Kind kDoubles{.name = "doubles", .doubles = 1};
constexpr Kind kStructures{.name = "structures", .doubles = kMembers};

class Exerciser : public Kernel {
 public:
  explicit Exerciser(const Context& context)
      : Kernel(context),
        files_(job_, world_),
        dimensions_(job_.count("numdims")),
        sizes_(job_.count("nsizes")),
        iterations_(job_.count("iterations")),
        grid_(job_.counts("dimranks")) {
    grid_.resize(dimensions_, 1);
    const auto places = std::accumulate(grid_.begin(), grid_.end(), std::uint64_t{1}, std::multiplies<>());
    if (places == job_.ranks) return;
    // One that does not fit is none, as in h5bench: the first dimension is divided.
    std::ranges::fill(grid_, 1);
    grid_.front() = job_.ranks;
  }

  void run() override {
    recorder_.begin();
    for (std::uint64_t size = 0; size < sizes_; ++size) {
      for (std::uint64_t i = 0; i < iterations_; ++i) {
        write(size, i);
        read(size, i);
      }
      recorder_.end_iteration(format_text("size {}", size + 1));
      recorder_.progress(static_cast<double>(size + 1) / static_cast<double>(sizes_));
    }
    recorder_.end();
  }

  void check() override {
    for (std::uint64_t size = 0; size < sizes_; ++size) {
      const auto file = files_.open(path(size), false);
      if (job_.flag("addattr")) check_attribute(file.get());
      for (const auto& kind : kinds()) {
        const auto dataset = open_dataset(file.get(), format_text("top/{}", kind.name));
        expect_shape(checker_, dataset.get(), extent(size), label(kind, size));
        for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
          const auto space = space_of(size, rank);
          std::vector<std::uint64_t> data(elements(size) * kind.doubles);
          move_in(dataset.get(), kind, space.get(), H5P_DEFAULT, data);
          compare(kind, size, iterations_ - 1, space.get(), data);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::vector<Kind> kinds() const {
    return job_.flag("derivedtype") ? std::vector{kDoubles, kStructures} : std::vector{kDoubles};
  }
  [[nodiscard]] std::string path(std::uint64_t size) const { return format_text("{}.{}", job_.path(), size); }
  [[nodiscard]] static std::string label(const Kind& kind, std::uint64_t size) {
    return format_text("{} of size {}", kind.name, size + 1);
  }

  // What one rank has of an array.
  [[nodiscard]] std::vector<hsize_t> part(std::uint64_t size) const {
    const auto least = job_.counts("minels");
    const auto factor = job_.counts("bufmult");
    std::vector<hsize_t> part(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(dimensions_));
    for (std::uint64_t i = 0; i < size; ++i) {
      for (std::size_t d = 0; d < part.size(); ++d) part[d] *= factor[d];
    }
    return part;
  }
  [[nodiscard]] std::uint64_t elements(std::uint64_t size) const {
    const auto all = part(size);
    return std::accumulate(all.begin(), all.end(), std::uint64_t{1}, std::multiplies<>());
  }
  [[nodiscard]] std::vector<hsize_t> extent(std::uint64_t size) const {
    auto extent = part(size);
    for (std::size_t d = 0; d < extent.size(); ++d) extent[d] *= grid_[d];
    return extent;
  }
  [[nodiscard]] Hid space_of(std::uint64_t size, std::uint64_t place) const {
    const auto count = part(size);
    std::vector<hsize_t> start(count.size());
    for (auto d = count.size(); d-- > 0; place /= grid_[d]) start[d] = place % grid_[d] * count[d];
    return box_of(extent(size), start, count);
  }
  // rshift: what a rank reads another one has written, so that it is not read from where it was written.
  [[nodiscard]] std::uint64_t place(std::uint64_t shifts) const {
    return (world_.rank() + shifts * job_.count("rshift")) % job_.ranks;
  }

  [[nodiscard]] Hid make_dataset(hid_t group, const Kind& kind, std::uint64_t size) const {
    const Hid properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make properties");
    const auto chunk = part(size);
    if (job_.flag("usechunked"))
      must(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()), "choose chunks");
    return {H5Dcreate2(group, kind.name, kind.type().get(), simple_space(extent(size)).get(), H5P_DEFAULT,
                       properties.get(), H5P_DEFAULT),
            H5Dclose, std::string("create dataset ") + kind.name};
  }
  static constexpr std::array<char, 64> kText = {"an attribute of the top group"};
  [[nodiscard]] static Hid text_type() {
    Hid type(H5Tcopy(H5T_C_S1), H5Tclose, "make a type");
    must(H5Tset_size(type.get(), kText.size()), "make a type");
    return type;
  }
  void check_attribute(hid_t file) {
    const bool there = H5Aexists_by_name(file, "top", "about", H5P_DEFAULT) > 0;
    auto found = std::array<char, kText.size()>{};
    if (there) {
      const Hid attribute(H5Aopen_by_name(file, "top", "about", H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                          "open an attribute");
      must(H5Aread(attribute.get(), text_type().get(), found.data()), "read an attribute");
    }
    checker_.expect(there && found == kText, "attribute about of the top group is not what was written");
  }
  static void add_attribute(hid_t group) {
    const auto type = text_type();
    const Hid space(H5Screate(H5S_SCALAR), H5Sclose, "make a dataspace");
    const Hid attribute(H5Acreate2(group, "about", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                        H5Aclose, "create an attribute");
    must(H5Awrite(attribute.get(), type.get(), kText.data()), "write an attribute");
  }

  void write(std::uint64_t size, std::uint64_t iteration) {
    const auto transfer = files_.transfer_properties();
    auto file = recorder_.timed(Phase::kCreate, [&] { return files_.create(path(size)); });
    auto group = recorder_.timed(Phase::kMetadata, [&] {
      Hid made(H5Gcreate2(file.get(), "top", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
               "make a group");
      if (job_.flag("addattr")) add_attribute(made.get());
      return made;
    });
    const auto space = space_of(size, place(1));
    for (const auto& kind : kinds()) {
      std::vector<std::uint64_t> data(elements(size) * kind.doubles);
      recorder_.untimed([&] {
        visit(kind, space.get(), [&](std::uint64_t first, std::uint64_t at, std::uint64_t count) {
          context_.fill(label(kind, size), iteration, first, std::span(data).subspan(at, count));
        });
      });
      auto dataset = recorder_.timed(Phase::kMetadata, [&] { return make_dataset(group.get(), kind, size); });
      const auto type = kind.type();
      const auto memory = simple_space({elements(size)});
      recorder_.transfer(Phase::kWrite, data.size() * sizeof(double), [&] {
        must(H5Dwrite(dataset.get(), type.get(), memory.get(), space.get(), transfer.get(), data.data()),
             "write");
      });
      recorder_.timed(Phase::kMetadata, [&] { dataset.close("close a dataset"); });
    }
    recorder_.timed(Phase::kMetadata, [&] { group.close("close a group"); });
    recorder_.timed(Phase::kFlush, [&] { must(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "flush"); });
    recorder_.timed(Phase::kClose, [&] { file.close("close " + path(size)); });
  }

  void read(std::uint64_t size, std::uint64_t iteration) {
    if (job_.null) return;  // there is nothing to be found
    const auto transfer = files_.transfer_properties();
    auto file = recorder_.timed(Phase::kOpen, [&] { return files_.open(path(size), false); });
    const auto space = space_of(size, place(2));
    for (const auto& kind : kinds()) {
      std::vector<std::uint64_t> data(elements(size) * kind.doubles);
      auto dataset = recorder_.timed(
          Phase::kMetadata, [&] { return open_dataset(file.get(), format_text("top/{}", kind.name)); });
      recorder_.transfer(Phase::kRead, data.size() * sizeof(double),
                         [&] { move_in(dataset.get(), kind, space.get(), transfer.get(), data); });
      if (job_.verify) recorder_.untimed([&] { compare(kind, size, iteration, space.get(), data); });
      recorder_.timed(Phase::kMetadata, [&] { dataset.close("close a dataset"); });
    }
    recorder_.timed(Phase::kClose, [&] { file.close("close " + path(size)); });
  }

  static void move_in(hid_t dataset, const Kind& kind, hid_t space, hid_t transfer,
                      std::vector<std::uint64_t>& data) {
    must(H5Dread(dataset, kind.type().get(), simple_space({data.size() / kind.doubles}).get(), space,
                 transfer, data.data()),
         "read");
  }
  // visit(index of a double in the dataset, place in memory, count)
  template <class Visit>
  static void visit(const Kind& kind, hid_t space, Visit&& visit) {
    std::uint64_t at = 0;
    for (const auto& run : runs_of(space)) {
      visit(run.first * kind.doubles, at, run.count * kind.doubles);
      at += run.count * kind.doubles;
    }
  }
  void compare(const Kind& kind, std::uint64_t size, std::uint64_t iteration, hid_t space,
               const std::vector<std::uint64_t>& data) {
    visit(kind, space, [&](std::uint64_t first, std::uint64_t at, std::uint64_t count) {
      checker_.check<std::uint64_t>(label(kind, size), iteration, first, std::span(data).subspan(at, count));
    });
  }

  Hdf5Files files_;
  std::uint64_t dimensions_, sizes_, iterations_;
  std::vector<std::uint64_t> grid_;
};

}  // namespace

std::unique_ptr<Kernel> make_exerciser(const Context& context) {
  return std::make_unique<Exerciser>(context);
}

}  // namespace forebay::kernels
