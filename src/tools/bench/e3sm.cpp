// The decompositions of the climate model E3SM: many variables, each in a decomposition that gives every
// process thousands of short runs of points, in all levels. Cases: F (atmosphere: most variables over
// levels), G (ocean: few variables, longer runs), I (land: hundreds of variables, and points that nobody
// has).
#include <random>

#include "base/format.hpp"
#include "tools/bench/datasets.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernels.hpp"

namespace forebay::kernels {
namespace {

struct Case {
  std::uint64_t longest_run;  // of points that one process has
  unsigned deep_percent;      // of variables, those over all levels
  unsigned hole_percent;      // of runs that nobody has
};

Case case_of(const std::string& letter) {
  if (letter == "F") return {.longest_run = 4, .deep_percent = 16, .hole_percent = 0};
  if (letter == "G") return {.longest_run = 32, .deep_percent = 40, .hole_percent = 0};
  return {.longest_run = 8, .deep_percent = 3, .hole_percent = 30};
}

class E3sm : public Kernel {
 public:
  explicit E3sm(const Context& context)
      : Kernel(context),
        files_(job_, world_),
        case_(case_of(job_.text("case"))),
        variables_(job_.count("variables")),
        records_(job_.count("r")),
        points_(job_.count("points")),
        levels_(job_.count("levels")) {}

  void run() override {
    const auto mine = runs(world_.rank());
    const auto transfer = files_.transfer_properties();
    recorder_.begin();
    auto file = recorder_.timed(Phase::kCreate, [&] { return files_.create(job_.path()); });
    std::vector<Hid> datasets;
    recorder_.timed(Phase::kMetadata, [&] {
      for (std::uint64_t v = 0; v < variables_; ++v)
        datasets.push_back(create_dataset<std::uint64_t>(file.get(), name(v), extent(v)));
    });
    for (std::uint64_t record = 0; record < records_; ++record) {
      for (std::uint64_t v = 0; v < variables_; ++v) {
        auto data = recorder_.untimed([&] { return make_data(v, record, mine); });
        const auto space = recorder_.timed(Phase::kMetadata, [&] { return select(v, record, mine); });
        recorder_.transfer(Phase::kWrite, data.size() * 8, [&] {
          write_selected<std::uint64_t>(datasets[v].get(), space.get(), transfer.get(), data);
        });
      }
      recorder_.end_iteration(format_text("record {}", record + 1));
      recorder_.progress(static_cast<double>(record + 1) / static_cast<double>(records_));
    }
    recorder_.timed(Phase::kFlush, [&] { must(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    recorder_.timed(Phase::kClose, [&] {
      datasets.clear();
      file.close("close " + job_.path());
    });
    recorder_.end();
  }

  void check() override {
    const auto file = files_.open(job_.path(), false);
    for (std::uint64_t v = 0; v < variables_; ++v) {
      const auto dataset = open_dataset(file.get(), name(v));
      expect_shape(checker_, dataset.get(), extent(v), name(v));
      for (std::uint64_t record = 0; record < records_; ++record) {
        std::vector<std::uint64_t> data(levels_of(v) * points_);
        const auto all = box_of(extent(v), {record, 0, 0}, {1, levels_of(v), points_});
        read_selected(dataset.get(), all.get(), H5P_DEFAULT, std::span(data));
        for (std::uint64_t level = 0; level < levels_of(v); ++level) {
          deal([&](std::uint64_t point, std::uint64_t count, std::uint64_t owner) {
            const auto first = level * points_ + point;
            const auto found = std::span<const std::uint64_t>(data).subspan(first, count);
            owner == kNobody ? checker_.check_unwritten(name(v), record, first, found)
                             : checker_.check(name(v), record, first, found);
          });
        }
      }
    }
  }

 private:
  [[nodiscard]] static std::string name(std::uint64_t variable) {
    return format_text("variable_{:03}", variable);
  }
  [[nodiscard]] std::uint64_t levels_of(std::uint64_t variable) const {
    return variable * 37 % 100 < case_.deep_percent ? levels_ : 1;
  }
  [[nodiscard]] std::vector<hsize_t> extent(std::uint64_t variable) const {
    return {records_, levels_of(variable), points_};
  }

  // Points in runs of random length, dealt to ranks at random; the same for everybody who asks.
  // visit(point, count, rank or kNobody)
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};
  template <class Visit>
  void deal(Visit&& visit) const {
    std::mt19937_64 dice(job_.seed);
    for (std::uint64_t at = 0; at < points_;) {
      const auto count = std::min(points_ - at, 1 + dice() % case_.longest_run);
      const bool hole = dice() % 100 < case_.hole_percent;
      const auto owner = dice() % job_.ranks;
      visit(at, count, hole ? kNobody : owner);
      at += count;
    }
  }
  [[nodiscard]] std::vector<Run> runs(std::uint64_t rank) const {
    std::vector<Run> mine;
    deal([&](std::uint64_t at, std::uint64_t count, std::uint64_t owner) {
      if (owner == rank) mine.push_back({at, count});
    });
    return mine;
  }

  // visit(index in the record, place in memory, count), in the order in which elements are moved.
  template <class Visit>
  void visit(std::uint64_t variable, const std::vector<Run>& mine, Visit&& visit) const {
    std::uint64_t place = 0;
    for (std::uint64_t level = 0; level < levels_of(variable); ++level) {
      for (const auto& run : mine) {
        visit(level * points_ + run.first, place, run.count);
        place += run.count;
      }
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> make_data(std::uint64_t variable, std::uint64_t record,
                                                     const std::vector<Run>& mine) const {
    std::vector<std::uint64_t> data(elements_of(mine) * levels_of(variable));
    visit(variable, mine, [&](std::uint64_t first, std::uint64_t at, std::uint64_t count) {
      context_.fill(name(variable), record, first, std::span(data).subspan(at, count));
    });
    return data;
  }

  // By points: a union of thousands of boxes takes HDF5 longer to make than to write.
  [[nodiscard]] Hid select(std::uint64_t variable, std::uint64_t record, const std::vector<Run>& mine) const {
    auto space = simple_space(extent(variable));
    std::vector<hsize_t> coordinates;
    visit(variable, mine, [&](std::uint64_t first, std::uint64_t, std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i)
        coordinates.insert(coordinates.end(), {record, first / points_, first % points_ + i});
    });
    if (coordinates.empty()) {
      must(H5Sselect_none(space.get()), "select nothing");
    } else {
      must(H5Sselect_elements(space.get(), H5S_SELECT_SET, coordinates.size() / 3, coordinates.data()),
           "select points");
    }
    return space;
  }

  Hdf5Files files_;
  Case case_;
  std::uint64_t variables_, records_, points_, levels_;
};

}  // namespace

std::unique_ptr<Kernel> make_e3sm(const Context& context) { return std::make_unique<E3sm>(context); }

}  // namespace forebay::kernels
