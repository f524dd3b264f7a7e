#include "door/hdf5/dataset_map.hpp"

#include "door/hdf5/native_dataset.hpp"
#include "door/hdf5/quiet.hpp"

namespace forebay::hdf5 {
namespace {

// 8 bytes each: a map stays below 64 MiB.
constexpr std::uint64_t kMaxChunks = 8u << 20;

// What in a type keeps its elements from being plain bytes.
std::expected<void, Reason> check_plain(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_VLEN:
      return std::unexpected(Reason::kVariableLength);
    case H5T_REFERENCE:
      return std::unexpected(Reason::kReference);
    case H5T_STRING:
      if (H5Tis_variable_str(type) != 0) return std::unexpected(Reason::kVariableLength);
      return {};
    case H5T_ARRAY:
      return check_plain(Hid(H5Tget_super(type)).get());
    case H5T_COMPOUND: {
      const int members = H5Tget_nmembers(type);
      for (unsigned i = 0; static_cast<int>(i) < members; ++i) {
        if (const auto plain = check_plain(Hid(H5Tget_member_type(type, i)).get()); !plain) return plain;
      }
      return {};
    }
    case H5T_NO_CLASS:
      return std::unexpected(Reason::kNotNative);
    default:
      return {};
  }
}

}  // namespace

std::expected<DatasetMap, Reason> DatasetMap::make(void* dataset, hid_t connector, bool writable) {
  const Quiet quiet;
  DatasetMap map;
  if (const auto described = map.describe(dataset, connector, writable); !described)
    return std::unexpected(described.error());
  return map;
}

std::expected<void, Reason> DatasetMap::describe(void* dataset, hid_t connector, bool writable) {
  const auto creation = ask(dataset, connector, H5VL_DATASET_GET_DCPL);
  const auto space = ask(dataset, connector, H5VL_DATASET_GET_SPACE);
  const auto type = ask(dataset, connector, H5VL_DATASET_GET_TYPE);
  if (!creation || !space || !type) return std::unexpected(Reason::kNotNative);

  const auto layout = H5Pget_layout(creation.get());
  if (layout == H5D_COMPACT) return std::unexpected(Reason::kCompact);
  if (layout == H5D_VIRTUAL) return std::unexpected(Reason::kVirtual);
  if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) return std::unexpected(Reason::kNotNative);
  if (H5Pget_external_count(creation.get()) != 0) return std::unexpected(Reason::kExternal);
  if (H5Pget_nfilters(creation.get()) != 0) return std::unexpected(Reason::kFiltered);

  // A copy: a committed type may be closed and reopened without us.
  type_ = Hid(H5Tcopy(type.get()));
  if (!type_) return std::unexpected(Reason::kNotNative);
  if (const auto plain = check_plain(type_.get()); !plain) return plain;
  element_size_ = H5Tget_size(type_.get());

  const auto count = H5Sget_simple_extent_npoints(space.get());
  if (count <= 0 || element_size_ == 0) return std::unexpected(Reason::kNoElements);
  elements_ = static_cast<std::uint64_t>(count);
  const int rank = H5Sget_simple_extent_dims(space.get(), dims_.data(), nullptr);
  if (rank < 0) return std::unexpected(Reason::kNotNative);
  rank_ = static_cast<unsigned>(rank);
  return layout == H5D_CONTIGUOUS ? find_contiguous(dataset, connector)
                                  : find_chunks(dataset, connector, creation.get(), writable);
}

std::expected<void, Reason> DatasetMap::find_contiguous(void* dataset, hid_t connector) {
  // The offset of what is not allocated is not always the undefined address (with a user block it is not).
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_SPACE_STATUS;
  args.args.get_space_status.status = &status;
  if (H5VLdataset_get(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr) < 0)
    return std::unexpected(Reason::kNotNative);
  if (status != H5D_SPACE_STATUS_ALLOCATED) return std::unexpected(Reason::kNotAllocated);
  haddr_t address = HADDR_UNDEF;
  H5VL_native_dataset_optional_args_t native{};
  native.get_offset.offset = &address;
  if (!ask_native(dataset, connector, H5VL_NATIVE_DATASET_GET_OFFSET, native))
    return std::unexpected(Reason::kNotNative);
  if (address == HADDR_UNDEF) return std::unexpected(Reason::kNotAllocated);
  address_ = address;
  return {};
}

std::expected<void, Reason> DatasetMap::find_chunks(void* dataset, hid_t connector, hid_t creation,
                                                    bool writable) {
  std::array<hsize_t, 32> chunk{};
  if (H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) != static_cast<int>(rank_))
    return std::unexpected(Reason::kNotNative);

  struct Collector {
    std::vector<std::uint64_t>& chunks;
    std::array<hsize_t, 32> dims;
    std::array<std::uint64_t, 32> below;
    unsigned rank;
    std::uint64_t found = 0;
  } collector{chunks_, chunk, {}, rank_};
  std::uint64_t total = 1;
  for (auto d = rank_; d-- > 0;) {
    collector.below[d] = total;
    total *= (dims_[d] + chunk[d] - 1) / chunk[d];
    if (total > kMaxChunks) return std::unexpected(Reason::kTooManyChunks);
  }
  chunks_.assign(total, kHole);

  H5VL_native_dataset_optional_args_t native{};
  native.chunk_iter.op = [](const hsize_t* offset, unsigned, haddr_t address, hsize_t, void* data) {
    auto& into = *static_cast<Collector*>(data);
    std::uint64_t index = 0;
    for (unsigned d = 0; d < into.rank; ++d) index += offset[d] / into.dims[d] * into.below[d];
    if (address == HADDR_UNDEF) return H5_ITER_CONT;
    if (index >= into.chunks.size()) return H5_ITER_ERROR;
    into.chunks[index] = address;
    ++into.found;
    return H5_ITER_CONT;
  };
  native.chunk_iter.op_data = &collector;
  if (!ask_native(dataset, connector, H5VL_NATIVE_DATASET_CHUNK_ITER, native))
    return std::unexpected(Reason::kNotNative);
  if (collector.found == 0) return std::unexpected(Reason::kNotAllocated);
  if (collector.found != total) {
    if (writable) return std::unexpected(Reason::kPartlyAllocated);
    if (const auto filled = find_fill(creation); !filled) return filled;
  }

  // A dimension as wide as the chunk joins the one before it: what is contiguous stays in one piece.
  std::uint64_t inside = 1;
  for (auto d = rank_; d-- > 0;) {
    if (!grid_.empty() && grid_.back().size == grid_.back().chunk) {
      grid_.back().size *= dims_[d];
      grid_.back().chunk *= chunk[d];
      grid_.back().chunks_below = collector.below[d];
    } else {
      grid_.push_back({dims_[d], chunk[d], collector.below[d], inside});
    }
    inside *= chunk[d];
  }
  std::ranges::reverse(grid_);
  return {};
}

// A reader of missing chunks sees the fill value, or, where there is none, its own memory untouched: the
// latter only the native call can do.
std::expected<void, Reason> DatasetMap::find_fill(hid_t creation) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  H5D_fill_time_t time = H5D_FILL_TIME_ERROR;
  if (H5Pfill_value_defined(creation, &defined) < 0 || H5Pget_fill_time(creation, &time) < 0)
    return std::unexpected(Reason::kNotNative);
  if (defined == H5D_FILL_VALUE_UNDEFINED || time == H5D_FILL_TIME_NEVER)
    return std::unexpected(Reason::kPartlyAllocated);
  fill_.resize(element_size_);
  if (H5Pget_fill_value(creation, type_.get(), fill_.data()) < 0) return std::unexpected(Reason::kNotNative);
  return {};
}

}  // namespace forebay::hdf5
