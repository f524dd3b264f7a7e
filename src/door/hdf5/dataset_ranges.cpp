#include "door/hdf5/dataset_ranges.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "door/hdf5/native_dataset.hpp"
#include "door/hdf5/quiet.hpp"
#include "door/hdf5/selection.hpp"

namespace forebay::hdf5 {
namespace {

using Ranges = std::expected<std::vector<FileRange>, Reason>;

// A request of its own would cost more than the bytes between.
constexpr std::uint64_t kNear = 64u << 10;

void add(std::vector<FileRange>& ranges, std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return;
  if (!ranges.empty()) {
    auto& last = ranges.back();
    if (offset >= last.offset && offset <= last.offset + last.length + kNear) {
      last.length = std::max(last.length, offset + length - last.offset);
      return;
    }
  }
  ranges.push_back({offset, length});
}

void sort_and_join(std::vector<FileRange>& ranges) {
  std::ranges::sort(ranges, {}, &FileRange::offset);
  std::vector<FileRange> joined;
  for (const auto& range : ranges) add(joined, range.offset, range.length);
  ranges = std::move(joined);
}

Ranges contiguous(void* dataset, hid_t connector, hid_t selected) {
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_SPACE_STATUS;
  args.args.get_space_status.status = &status;
  if (H5VLdataset_get(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr) < 0)
    return std::unexpected(Reason::kNotNative);
  if (status != H5D_SPACE_STATUS_ALLOCATED) return {};
  haddr_t address = HADDR_UNDEF;
  H5VL_native_dataset_optional_args_t native{};
  native.get_offset.offset = &address;
  if (!ask_native(dataset, connector, H5VL_NATIVE_DATASET_GET_OFFSET, native))
    return std::unexpected(Reason::kNotNative);
  if (address == HADDR_UNDEF) return {};

  const auto size = H5Tget_size(ask(dataset, connector, H5VL_DATASET_GET_TYPE).get());
  Selection selection(selected);
  if (!selection.good() || size == 0) return std::unexpected(Reason::kSelection);
  std::vector<FileRange> ranges;
  for (auto left = selection.elements(); left != 0;) {
    const auto run = selection.take(left);
    if (run.count == 0) return std::unexpected(Reason::kSelection);
    add(ranges, address + run.first * size, run.count * size);
    left -= run.count;
  }
  return ranges;
}

struct Chunks {
  hid_t selected;
  bool all;
  unsigned rank;
  std::array<hsize_t, 32> dims;  // of a chunk
  std::vector<FileRange> ranges;

  [[nodiscard]] bool wanted(const hsize_t* offset) const {
    if (all) return true;
    std::array<hsize_t, 32> last{};
    for (unsigned d = 0; d < rank; ++d) last[d] = offset[d] + dims[d] - 1;
    return H5Sselect_intersect_block(selected, offset, last.data()) > 0;
  }
};

Ranges chunked(void* dataset, hid_t connector, hid_t creation, hid_t selected, bool all) {
  Chunks chunks{.selected = selected, .all = all, .rank = 0, .dims = {}, .ranges = {}};
  const int rank = H5Pget_chunk(creation, static_cast<int>(chunks.dims.size()), chunks.dims.data());
  if (rank <= 0 || rank != H5Sget_simple_extent_ndims(selected)) return std::unexpected(Reason::kSelection);
  chunks.rank = static_cast<unsigned>(rank);
  if (H5Sget_select_npoints(selected) == 0) return {};
  H5VL_native_dataset_optional_args_t native{};
  native.chunk_iter.op = [](const hsize_t* offset, unsigned, haddr_t address, hsize_t size, void* data) {
    auto& into = *static_cast<Chunks*>(data);
    if (address != HADDR_UNDEF && into.wanted(offset)) add(into.ranges, address, size);
    return H5_ITER_CONT;
  };
  native.chunk_iter.op_data = &chunks;
  if (!ask_native(dataset, connector, H5VL_NATIVE_DATASET_CHUNK_ITER, native))
    return std::unexpected(Reason::kNotNative);
  return std::move(chunks.ranges);
}

}  // namespace

Ranges ranges_of(void* dataset, hid_t connector, hid_t file_space) {
  const Quiet quiet;
  const auto creation = ask(dataset, connector, H5VL_DATASET_GET_DCPL);
  const auto space = ask(dataset, connector, H5VL_DATASET_GET_SPACE);
  if (!creation || !space) return std::unexpected(Reason::kNotNative);
  const bool all = file_space == H5S_ALL;
  const hid_t selected = all ? space.get() : file_space;
  if (!all && H5Sextent_equal(space.get(), selected) <= 0) return std::unexpected(Reason::kSelection);

  Ranges ranges;
  switch (H5Pget_layout(creation.get())) {
    case H5D_COMPACT:
      return {};  // in the object header, which HDF5 has read
    case H5D_VIRTUAL:
      return std::unexpected(Reason::kVirtual);
    case H5D_CONTIGUOUS:
      if (H5Pget_external_count(creation.get()) != 0) return std::unexpected(Reason::kExternal);
      ranges = contiguous(dataset, connector, selected);
      break;
    case H5D_CHUNKED:
      ranges = chunked(dataset, connector, creation.get(), selected, all);
      break;
    default:
      return std::unexpected(Reason::kNotNative);
  }
  if (ranges) sort_and_join(*ranges);
  return ranges;
}

}  // namespace forebay::hdf5
