// A particle-mesh code in the openPMD layout: each step a file with a mesh of field records in blocks and
// particles beside them, with the attributes that the standard asks for. Reading: the metadata alone, or
// slices of a field.
#include <algorithm>
#include <array>
#include <utility>

#include "base/format.hpp"
#include "tools/bench/datasets.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernels.hpp"

namespace forebay::kernels {
namespace {

constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};
constexpr std::array<const char*, 2> kFields = {"E", "B"};

void put_text(hid_t at, const char* name, const std::string& text) {
  const Hid type(H5Tcopy(H5T_C_S1), H5Tclose, "make a type");
  must(H5Tset_size(type.get(), text.size()), "make a type");
  const Hid space(H5Screate(H5S_SCALAR), H5Sclose, "make a dataspace");
  const Hid attribute(H5Acreate2(at, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                      std::string("create attribute ") + name);
  must(H5Awrite(attribute.get(), type.get(), text.data()), "write an attribute");
}

void put_number(hid_t at, const char* name, double number) {
  const Hid space(H5Screate(H5S_SCALAR), H5Sclose, "make a dataspace");
  const Hid attribute(H5Acreate2(at, name, H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose, std::string("create attribute ") + name);
  must(H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, &number), "write an attribute");
}

// Whether an attribute is there and says that.
bool has_number(hid_t at, const char* name, double number) {
  if (H5Aexists(at, name) <= 0) return false;
  const Hid attribute(H5Aopen(at, name, H5P_DEFAULT), H5Aclose, std::string("open attribute ") + name);
  double found = 0;
  must(H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &found), "read an attribute");
  return found == number;
}

bool has_text(hid_t at, const char* name, const std::string& text) {
  if (H5Aexists(at, name) <= 0) return false;
  const Hid attribute(H5Aopen(at, name, H5P_DEFAULT), H5Aclose, std::string("open attribute ") + name);
  const Hid type(H5Aget_type(attribute.get()), H5Tclose, "look at an attribute");
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tget_size(type.get()) != text.size()) return false;
  std::string found(text.size(), ' ');
  must(H5Aread(attribute.get(), type.get(), found.data()), "read an attribute");
  return found == text;
}

// What the standard asks for in the root of a file, and in a step beside its time.
constexpr std::array<std::pair<const char*, const char*>, 5> kTexts{{{"openPMD", "1.1.0"},
                                                                     {"basePath", "/data/%T/"},
                                                                     {"meshesPath", "fields/"},
                                                                     {"particlesPath", "particles/"},
                                                                     {"iterationEncoding", "fileBased"}}};
constexpr std::array<std::pair<const char*, double>, 2> kNumbers{{{"dt", 1}, {"timeUnitSI", 1e-15}}};

class OpenPmd : public Kernel {
 public:
  explicit OpenPmd(const Context& context)
      : Kernel(context),
        files_(job_, world_),
        steps_(job_.count("steps")),
        block_(job_.counts("minBlock")),
        grid_(job_.counts("grid")),
        ratio_(job_.count("ratio")) {
    block_.resize(job_.count("dim"), 1);
    grid_.resize(job_.count("dim"), 1);
    for (std::size_t i = 0; i < block_.size(); ++i) mesh_.push_back(block_[i] * grid_[i]);
    for (const auto one : grid_) blocks_ *= one;
    for (const auto one : block_) cells_ *= one;
  }

  void prepare() override {
    if (job_.text("operation") == "write") {
      Kernel::prepare();
      return;
    }
    for (std::uint64_t step = 0; step < steps_; ++step) {
      if (!fits(step) || !job_.plant.empty()) write_step(step, 0, 1);
    }
  }

  void run() override {
    recorder_.begin();
    for (std::uint64_t step = 0; step < steps_; ++step) {
      if (job_.text("operation") == "write") {
        write_step(step, world_.rank(), job_.ranks);
      } else if (job_.text("pattern") == "m") {
        read_metadata(step);
      } else {
        read_slice(step, job_.text("pattern"));
      }
      recorder_.end_iteration(format_text("step {}", step + 1));
      recorder_.progress(static_cast<double>(step + 1) / static_cast<double>(steps_));
    }
    recorder_.end();
  }

  void check() override {
    for (std::uint64_t step = 0; step < steps_; ++step) {
      const auto file = files_.open(path(step), false);
      for_records(step, [&](const std::string& name, const std::vector<hsize_t>& extent) {
        const auto dataset = open_dataset(file.get(), name);
        check_dataset(dataset.get(), name, extent);
        std::uint64_t elements = 1;
        for (const auto one : extent) elements *= one;
        std::vector<std::uint32_t> data(elements);
        read_selected(dataset.get(), H5S_ALL, H5P_DEFAULT, std::span(data));
        checker_.check<std::uint32_t>(record(name), step, 0, data);
      });
      check_metadata(file.get(), step);
    }
  }

 private:
  [[nodiscard]] std::string path(std::uint64_t step) const {
    return format_text("{}.{:07}", job_.path(), step);
  }
  [[nodiscard]] static std::string base(std::uint64_t step) { return format_text("data/{}", step); }
  // Without the step: the timestep of the data says it.
  [[nodiscard]] static std::string record(const std::string& name) {
    return name.substr(name.find('/', 5) + 1);
  }

  // All datasets of a step: visit(name, extent)
  template <class Visit>
  void for_records(std::uint64_t step, Visit&& visit) const {
    for (const auto* field : kFields) {
      for (const auto* axis : kAxes) visit(format_text("{}/fields/{}/{}", base(step), field, axis), mesh_);
    }
    if (ratio_ == 0) return;
    for (const auto* what : {"position", "momentum"}) {
      for (const auto* axis : kAxes)
        visit(format_text("{}/particles/ion/{}/{}", base(step), what, axis),
              std::vector<hsize_t>{blocks_ * cells_ * ratio_});
    }
  }

  [[nodiscard]] bool fits(std::uint64_t step) const {
    try {
      const auto file = files_.open(path(step), false);
      const auto dataset = open_dataset(file.get(), base(step) + "/fields/E/x");
      return extent_of(dataset.get()) == mesh_;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  // The blocks of a rank; unbalanced, the first has half of all, if there are others.
  [[nodiscard]] std::vector<std::uint64_t> blocks_of(std::uint64_t rank, std::uint64_t ranks) const {
    std::vector<std::uint64_t> mine;
    for (std::uint64_t i = 0; i < blocks_; ++i) {
      const auto owner = job_.flag("balanced") || ranks == 1 ? i % ranks
                         : i % 2 == 0                        ? 0
                                                             : 1 + i / 2 % (ranks - 1);
      if (owner == rank) mine.push_back(i);
    }
    return mine;
  }

  // Where a block stands, and the elements of it.
  [[nodiscard]] Hid space_of(std::uint64_t block, const std::vector<hsize_t>& extent) const {
    if (extent.size() == 1 && extent != mesh_) {
      const auto each = cells_ * ratio_;
      return box_of(extent, {block * each}, {each});
    }
    std::vector<hsize_t> start(mesh_.size());
    for (auto i = mesh_.size(); i-- > 0; block /= grid_[i]) start[i] = block % grid_[i] * block_[i];
    return box_of(extent, start, {block_.begin(), block_.end()});
  }

  void put_attributes(hid_t file, std::uint64_t step) const {
    for (const auto& [name, text] : kTexts) put_text(file, name, text);
    const Hid group(H5Gopen2(file, base(step).c_str(), H5P_DEFAULT), H5Gclose, "open the step");
    put_number(group.get(), "time", static_cast<double>(step));
    for (const auto& [name, number] : kNumbers) put_number(group.get(), name, number);
  }

  void write_step(std::uint64_t step, std::uint64_t rank, std::uint64_t ranks) {
    const auto transfer = files_.transfer_properties();
    auto file = recorder_.timed(Phase::kCreate, [&] { return files_.create(path(step)); });
    for_records(step, [&](const std::string& name, const std::vector<hsize_t>& extent) {
      auto dataset = recorder_.timed(Phase::kMetadata, [&] {
        auto made = create_dataset<std::uint32_t>(file.get(), name, extent);
        put_number(made.get(), "unitSI", 1);
        return made;
      });
      for (const auto block : blocks_of(rank, ranks)) {
        const auto space = space_of(block, extent);
        std::vector<std::uint32_t> data;
        recorder_.untimed([&] {
          const auto runs = runs_of(space.get());
          data.resize(elements_of(runs));
          std::uint64_t done = 0;
          for (const auto& run : runs) {
            context_.fill(record(name), step, run.first, std::span(data).subspan(done, run.count));
            done += run.count;
          }
        });
        recorder_.transfer(Phase::kWrite, data.size() * 4, [&] {
          write_selected<std::uint32_t>(dataset.get(), space.get(), transfer.get(), data);
        });
      }
      recorder_.timed(Phase::kMetadata, [&] { dataset.close("close a dataset"); });
    });
    recorder_.timed(Phase::kMetadata, [&] { put_attributes(file.get(), step); });
    recorder_.timed(Phase::kClose, [&] { file.close("close " + path(step)); });
  }

  void check_metadata(hid_t file, std::uint64_t step) {
    const Hid group(H5Gopen2(file, base(step).c_str(), H5P_DEFAULT), H5Gclose, "open the step");
    const auto expect = [&](bool right, const char* name) {
      checker_.expect(right, format_text("attribute {} of step {} is not what was written", name, step));
    };
    expect(has_number(group.get(), "time", static_cast<double>(step)), "time");
    for (const auto& [name, number] : kNumbers) expect(has_number(group.get(), name, number), name);
    for (const auto& [name, text] : kTexts) expect(has_text(file, name, text), name);
  }
  void check_dataset(hid_t dataset, const std::string& name, const std::vector<hsize_t>& extent) {
    expect_shape(checker_, dataset, extent, name);
    checker_.expect(has_number(dataset, "unitSI", 1),
                    format_text("attribute unitSI of {} is not what was written", name));
  }

  void read_metadata(std::uint64_t step) {
    auto file = recorder_.timed(Phase::kOpen, [&] { return files_.open(path(step), false); });
    recorder_.timed(Phase::kMetadata, [&] {
      for_records(step, [&](const std::string& name, const std::vector<hsize_t>& extent) {
        check_dataset(open_dataset(file.get(), name).get(), name, extent);
      });
      check_metadata(file.get(), step);
    });
    recorder_.timed(Phase::kClose, [&] { file.close("close " + path(step)); });
  }

  // The plane in the middle of the mesh across the axis that `pattern` names, each rank a part of its rows.
  void read_slice(std::uint64_t step, const std::string& pattern) {
    const auto across = std::min<std::size_t>(pattern == "sx"   ? 0
                                              : pattern == "sy" ? 1
                                                                : 2,
                                              mesh_.size() - 1);
    std::vector<hsize_t> start(mesh_.size());
    auto count = mesh_;
    start[across] = mesh_[across] / 2;
    count[across] = 1;
    const std::size_t shared = across == 0 ? mesh_.size() - 1 : 0;
    if (shared != across) {
      const auto rows = mesh_[shared];
      start[shared] = rows * world_.rank() / job_.ranks;
      count[shared] = rows * (world_.rank() + 1) / job_.ranks - start[shared];
    }
    const auto transfer = files_.transfer_properties();
    auto file = recorder_.timed(Phase::kOpen, [&] { return files_.open(path(step), false); });
    for (const auto* axis : kAxes) {
      const auto name = format_text("{}/fields/E/{}", base(step), axis);
      auto dataset = recorder_.timed(Phase::kMetadata, [&] { return open_dataset(file.get(), name); });
      const auto space = box_of(mesh_, start, count);
      const auto runs = runs_of(space.get());
      std::vector<std::uint32_t> data(elements_of(runs));
      recorder_.transfer(Phase::kRead, data.size() * 4,
                         [&] { read_selected(dataset.get(), space.get(), transfer.get(), std::span(data)); });
      if (job_.verify && !job_.null) recorder_.untimed([&] { compare(name, step, runs, data); });
      recorder_.timed(Phase::kMetadata, [&] { dataset.close("close a dataset"); });
    }
    recorder_.timed(Phase::kClose, [&] { file.close("close " + path(step)); });
  }

  void compare(const std::string& name, std::uint64_t step, const std::vector<Run>& runs,
               const std::vector<std::uint32_t>& data) {
    std::uint64_t done = 0;
    for (const auto& run : runs) {
      checker_.check<std::uint32_t>(record(name), step, run.first, std::span(data).subspan(done, run.count));
      done += run.count;
    }
  }

  Hdf5Files files_;
  std::uint64_t steps_;
  std::vector<std::uint64_t> block_, grid_;
  std::uint64_t ratio_;
  std::vector<hsize_t> mesh_;
  std::uint64_t blocks_ = 1;
  std::uint64_t cells_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> make_openpmd(const Context& context) { return std::make_unique<OpenPmd>(context); }

}  // namespace forebay::kernels
