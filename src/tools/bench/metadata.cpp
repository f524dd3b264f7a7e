// Many small arrays: the metadata stress of h5bench (hdf5-iotest). Each step writes each array, a tile from
// each process; then everything is read back. A dataset holds an array, all arrays of a step, all steps of an
// array, or everything, by its number of dimensions.
#include <algorithm>

#include "base/format.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernels.hpp"
#include "tools/bench/selection.hpp"

namespace forebay::kernels {
namespace {

class Metadata : public Kernel {
 public:
  explicit Metadata(const Context& context)
      : Kernel(context),
        files_(job_, world_),
        steps_(job_.count("steps")),
        arrays_(job_.count("arrays")),
        dims_(job_.count("dataset-rank")),
        step_slowest_(job_.text("slowest-dimension") == "step"),
        tile_rows_(job_.count("rows")),
        tile_columns_(job_.count("columns")),
        grid_rows_(job_.count("process-rows")),
        grid_columns_(job_.count("process-columns")) {
    if (grid_rows_ * grid_columns_ != job_.ranks)
      throw std::runtime_error("process-rows x process-columns is not the number of ranks");
    if (job_.text("scaling") == "strong") {
      tile_rows_ = std::max<hsize_t>(1, tile_rows_ / grid_rows_);
      tile_columns_ = std::max<hsize_t>(1, tile_columns_ / grid_columns_);
    }
  }

  void run() override {
    std::vector<std::uint64_t> tile(tile_rows_ * tile_columns_);
    const auto transfer = files_.transfer_properties();
    const auto memory = simple_space({tile.size()});
    recorder_.begin();
    auto file = recorder_.timed(Phase::kCreate, [&] { return files_.create(job_.path()); });
    for_all(file.get(), true, world_.rank(),
            [&](hid_t dataset, hid_t space, std::uint64_t step, std::uint64_t array) {
              recorder_.untimed([&] { fill(step, array, tile); });
              recorder_.transfer(Phase::kWrite, bytes(tile), [&] {
                must(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory.get(), space, transfer.get(), tile.data()),
                     "write an array");
              });
            });
    recorder_.end_iteration("write");
    recorder_.timed(Phase::kFlush, [&] { must(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    for_all(file.get(), false, world_.rank(),
            [&](hid_t dataset, hid_t space, std::uint64_t step, std::uint64_t array) {
              std::ranges::fill(tile, 0);
              recorder_.transfer(Phase::kRead, bytes(tile), [&] {
                must(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory.get(), space, transfer.get(), tile.data()),
                     "read an array");
              });
              if (job_.verify && !job_.null)
                recorder_.untimed([&] { compare(step, array, world_.rank(), tile); });
            });
    recorder_.end_iteration("read");
    recorder_.timed(Phase::kClose, [&] { file.close("close " + job_.path()); });
    recorder_.end();
  }

  void check() override {
    const auto file = files_.open(job_.path(), false);
    std::vector<std::uint64_t> tile(tile_rows_ * tile_columns_);
    const auto memory = simple_space({tile.size()});
    for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
      for_all(file.get(), false, rank,
              [&](hid_t dataset, hid_t space, std::uint64_t step, std::uint64_t array) {
                must(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory.get(), space, H5P_DEFAULT, tile.data()),
                     "read an array");
                compare(step, array, rank, tile);
              });
    }
  }

 private:
  static std::uint64_t bytes(const std::vector<std::uint64_t>& tile) { return tile.size() * sizeof tile[0]; }
  [[nodiscard]] hsize_t columns() const { return tile_columns_ * grid_columns_; }
  [[nodiscard]] hsize_t first_row(std::uint64_t rank) const { return rank / grid_columns_ * tile_rows_; }
  [[nodiscard]] hsize_t first_column(std::uint64_t rank) const {
    return rank % grid_columns_ * tile_columns_;
  }

  void fill(std::uint64_t step, std::uint64_t array, std::vector<std::uint64_t>& tile) const {
    for (hsize_t row = 0; row < tile_rows_; ++row)
      context_.fill(format_text("array={}", array), step, index(world_.rank(), row),
                    std::span(tile).subspan(row * tile_columns_, tile_columns_));
  }
  void compare(std::uint64_t step, std::uint64_t array, std::uint64_t rank,
               const std::vector<std::uint64_t>& tile) {
    for (hsize_t row = 0; row < tile_rows_; ++row)
      checker_.check<std::uint64_t>(format_text("array={}", array), step, index(rank, row),
                                    std::span(tile).subspan(row * tile_columns_, tile_columns_));
  }
  [[nodiscard]] std::uint64_t index(std::uint64_t rank, hsize_t row) const {
    return (first_row(rank) + row) * columns() + first_column(rank);
  }

  // Which dataset holds an array of a step, and where in it.
  [[nodiscard]] std::string dataset_name(std::uint64_t step, std::uint64_t array) const {
    if (dims_ == 4) return "everything";
    if (dims_ == 3) return step_slowest_ ? format_text("array={}", array) : format_text("step={}", step);
    return format_text("step={}_array={}", step, array);
  }
  [[nodiscard]] std::vector<hsize_t> leading(hsize_t step, hsize_t array) const {
    if (dims_ == 4) return step_slowest_ ? std::vector{step, array} : std::vector{array, step};
    if (dims_ == 3) return {step_slowest_ ? step : array};
    return {};
  }

  [[nodiscard]] Hid dataset(hid_t file, bool may_create, std::uint64_t step, std::uint64_t array) const {
    const auto name = dataset_name(step, array);
    const bool first_use =
        dims_ == 2 || (dims_ == 4 ? step == 0 && array == 0 : (step_slowest_ ? step : array) == 0);
    if (!may_create || !first_use)
      return {H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open dataset " + name};
    auto extent = leading(steps_, arrays_);
    extent.insert(extent.end(), {tile_rows_ * grid_rows_, columns()});
    const Hid properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make properties");
    if (job_.text("layout") == "chunked") {
      std::vector<hsize_t> chunk(extent.size(), 1);
      chunk[chunk.size() - 2] = tile_rows_;
      chunk.back() = tile_columns_;
      must(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()), "choose chunks");
    }
    return {H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, simple_space(extent).get(), H5P_DEFAULT,
                       properties.get(), H5P_DEFAULT),
            H5Dclose, "create dataset " + name};
  }

  // visit(dataset, space with the rank's tile selected, step, array)
  template <class Visit>
  void for_all(hid_t file, bool may_create, std::uint64_t rank, Visit&& visit) {
    for (std::uint64_t step = 0; step < steps_; ++step) {
      for (std::uint64_t array = 0; array < arrays_; ++array) {
        auto found =
            recorder_.timed(Phase::kMetadata, [&] { return dataset(file, may_create, step, array); });
        const auto space = recorder_.timed(Phase::kMetadata, [&] {
          Hid all(H5Dget_space(found.get()), H5Sclose, "look at a dataset");
          auto start = leading(step, array);
          std::vector<hsize_t> count(start.size(), 1);
          start.insert(start.end(), {first_row(rank), first_column(rank)});
          count.insert(count.end(), {tile_rows_, tile_columns_});
          select_box(all.get(), start, count);
          return all;
        });
        visit(found.get(), space.get(), step, array);
        recorder_.timed(Phase::kMetadata, [&] { found.close("close a dataset"); });
      }
      recorder_.progress(static_cast<double>(step + 1) / static_cast<double>(steps_) / 2 +
                         (may_create ? 0 : 0.5));
    }
  }

  Hdf5Files files_;
  std::uint64_t steps_, arrays_, dims_;
  bool step_slowest_;
  hsize_t tile_rows_, tile_columns_, grid_rows_, grid_columns_;
};

}  // namespace

std::unique_ptr<Kernel> make_metadata(const Context& context) { return std::make_unique<Metadata>(context); }

}  // namespace forebay::kernels
