// Dumps of a multi-physics code, as MACSio makes them: each process has parts of a mesh with variables upon
// them. In the mode MIF several processes share a file by taking turns, each opening it by itself; in SIF all
// write to one file at the same time.
#include <algorithm>

#include "base/format.hpp"
#include "tools/bench/datasets.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernels.hpp"

namespace forebay::kernels {
namespace {

class Macsio : public Kernel {
 public:
  explicit Macsio(const Context& context)
      : Kernel(context),
        files_(job_, world_),
        shared_(job_.flag("SHARED")),
        groups_(std::min(job_.count("FILES"), job_.ranks)),
        parts_(job_.count("avg_num_parts")),
        variables_(job_.count("vars_per_part")),
        dumps_(job_.count("num_dumps")),
        elements_(job_.count("part_size") / sizeof(double)) {}

  void run() override {
    if (!shared_) recorder_.take_turns(group_of(world_.rank()));
    recorder_.begin();
    for (std::uint64_t dump = 0; dump < dumps_; ++dump) {
      shared_ ? dump_together(dump) : dump_by_turns(dump);
      recorder_.end_iteration(format_text("dump {}", dump + 1));
      recorder_.progress(static_cast<double>(dump + 1) / static_cast<double>(dumps_));
    }
    recorder_.end();
  }

  void check() override {
    for (std::uint64_t dump = 0; dump < dumps_; ++dump) {
      for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
        const auto file = files_.open(path(dump, shared_ ? 0 : group_of(rank)), false);
        for (std::uint64_t part = 0; part < parts_; ++part) {
          for (std::uint64_t v = 0; v < variables_; ++v) {
            const auto dataset = open_dataset(file.get(), shared_ ? variable(v) : name(rank, part, v));
            expect_shape(checker_, dataset.get(), shared_ ? shared_extent() : std::vector<hsize_t>{elements_},
                         variable(v));
            std::vector<std::uint64_t> data(elements_);
            read_selected(dataset.get(), (shared_ ? shared_space(rank, part) : own_space()).get(),
                          H5P_DEFAULT, std::span(data));
            checker_.check<std::uint64_t>(variable(v), dump, first(rank, part), data);
          }
        }
      }
    }
  }

 private:
  [[nodiscard]] std::string path(std::uint64_t dump, std::uint64_t group) const {
    return format_text("{}.{:03}.{:05}", job_.path(), dump, group);
  }
  [[nodiscard]] std::uint64_t group_of(std::uint64_t rank) const { return rank * groups_ / job_.ranks; }
  [[nodiscard]] static std::string variable(std::uint64_t v) { return format_text("variable_{:02}", v); }
  [[nodiscard]] static std::string name(std::uint64_t rank, std::uint64_t part, std::uint64_t v) {
    return format_text("domain_{:05}/part_{:02}/{}", rank, part, variable(v));
  }
  // Place of a part among all of them, in elements.
  [[nodiscard]] std::uint64_t first(std::uint64_t rank, std::uint64_t part) const {
    return (rank * parts_ + part) * elements_;
  }
  [[nodiscard]] Hid own_space() const { return simple_space({elements_}); }
  [[nodiscard]] std::vector<hsize_t> shared_extent() const { return {job_.ranks * parts_ * elements_}; }
  [[nodiscard]] Hid shared_space(std::uint64_t rank, std::uint64_t part) const {
    return box_of(shared_extent(), {first(rank, part)}, {elements_});
  }

  void write(hid_t dataset, hid_t space, hid_t transfer, std::uint64_t dump, std::uint64_t part,
             std::uint64_t v) {
    std::vector<std::uint64_t> data(elements_);
    recorder_.untimed([&] { context_.fill(variable(v), dump, first(world_.rank(), part), std::span(data)); });
    recorder_.transfer(Phase::kWrite, data.size() * sizeof(double),
                       [&] { write_selected<std::uint64_t>(dataset, space, transfer, data); });
  }

  void dump_together(std::uint64_t dump) {
    const auto transfer = files_.transfer_properties();
    auto file = recorder_.timed(Phase::kCreate, [&] { return files_.create(path(dump, 0)); });
    for (std::uint64_t v = 0; v < variables_; ++v) {
      auto dataset = recorder_.timed(Phase::kMetadata, [&] {
        return create_dataset<std::uint64_t>(file.get(), variable(v), shared_extent());
      });
      for (std::uint64_t part = 0; part < parts_; ++part)
        write(dataset.get(), shared_space(world_.rank(), part).get(), transfer.get(), dump, part, v);
      recorder_.timed(Phase::kMetadata, [&] { dataset.close("close a dataset"); });
    }
    recorder_.timed(Phase::kClose, [&] { file.close("close a dump"); });
  }

  void dump_by_turns(std::uint64_t dump) {
    std::uint64_t turn = 0;  // of this rank in its group
    std::uint64_t turns = 1;
    for (std::uint64_t rank = 0, in_group = 0; rank < job_.ranks; ++rank) {
      in_group = rank > 0 && group_of(rank) == group_of(rank - 1) ? in_group + 1 : 0;
      turns = std::max(turns, in_group + 1);
      if (rank == world_.rank()) turn = in_group;
    }
    for (std::uint64_t now = 0; now < turns; ++now) {
      if (now == turn) dump_alone(dump, turn == 0);
      recorder_.barrier(Phase::kOpen);
    }
  }

  void dump_alone(std::uint64_t dump, bool first_in_group) {
    const auto target = path(dump, group_of(world_.rank()));
    auto file = recorder_.timed(first_in_group || job_.null ? Phase::kCreate : Phase::kOpen, [&] {
      return first_in_group || job_.null ? files_.create_alone(target) : files_.open_alone(target, true);
    });
    for (std::uint64_t part = 0; part < parts_; ++part) {
      for (std::uint64_t v = 0; v < variables_; ++v) {
        auto dataset = recorder_.timed(Phase::kMetadata, [&] {
          return create_dataset<std::uint64_t>(file.get(), name(world_.rank(), part, v), {elements_});
        });
        write(dataset.get(), own_space().get(), H5P_DEFAULT, dump, part, v);
        recorder_.timed(Phase::kMetadata, [&] { dataset.close("close a dataset"); });
      }
    }
    recorder_.timed(Phase::kClose, [&] { file.close("close a dump"); });
  }

  Hdf5Files files_;
  bool shared_;
  std::uint64_t groups_, parts_, variables_, dumps_, elements_;
};

}  // namespace

std::unique_ptr<Kernel> make_macsio(const Context& context) { return std::make_unique<Macsio>(context); }

}  // namespace forebay::kernels
