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

// Where HDF5 says that the chunks of a dataset lie.
struct Collector {
  std::vector<std::uint64_t>& chunks;
  const std::array<hsize_t, 32>& dims;  // of a chunk
  const std::array<std::uint64_t, 32>& below;
  unsigned rank;
  std::uint64_t found = 0;

  static int take(const hsize_t* offset, unsigned, haddr_t address, hsize_t, void* data) {
    auto& into = *static_cast<Collector*>(data);
    std::uint64_t index = 0;
    for (unsigned d = 0; d < into.rank; ++d) index += offset[d] / into.dims[d] * into.below[d];
    if (address == HADDR_UNDEF) return H5_ITER_CONT;
    if (index >= into.chunks.size()) return H5_ITER_ERROR;
    into.chunks[index] = address;
    ++into.found;
    return H5_ITER_CONT;
  }
};

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
  const auto type = ask(dataset, connector, H5VL_DATASET_GET_TYPE);
  if (!creation || !type) return std::unexpected(Reason::kNotNative);

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

  if (const auto found = find_extent(dataset, connector); !found) return found;
  return layout == H5D_CONTIGUOUS ? find_contiguous(dataset, connector)
                                  : find_chunks(dataset, connector, creation.get(), writable);
}

std::expected<void, Reason> DatasetMap::find_extent(void* dataset, hid_t connector) {
  const auto space = ask(dataset, connector, H5VL_DATASET_GET_SPACE);
  if (!space) return std::unexpected(Reason::kNotNative);
  const auto count = H5Sget_simple_extent_npoints(space.get());
  if (count <= 0 || element_size_ == 0) return std::unexpected(Reason::kNoElements);
  elements_ = static_cast<std::uint64_t>(count);
  const int rank = H5Sget_simple_extent_dims(space.get(), dims_.data(), nullptr);
  if (rank < 0) return std::unexpected(Reason::kNotNative);
  rank_ = static_cast<unsigned>(rank);
  return {};
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

std::optional<std::uint64_t> DatasetMap::count_chunks(std::array<std::uint64_t, 32>& below) const {
  std::uint64_t total = 1;
  for (auto d = rank_; d-- > 0;) {
    below[d] = total;
    total *= (dims_[d] + chunk_[d] - 1) / chunk_[d];
    if (total > kMaxChunks) return std::nullopt;
  }
  return total;
}

// A dimension as wide as the chunk joins the one before it: what is contiguous stays in one piece.
void DatasetMap::lay_grid(const std::array<std::uint64_t, 32>& below) {
  grid_.clear();
  std::uint64_t inside = 1;
  for (auto d = rank_; d-- > 0;) {
    if (!grid_.empty() && grid_.back().size == grid_.back().chunk) {
      grid_.back().size *= dims_[d];
      grid_.back().chunk *= chunk_[d];
      grid_.back().chunks_below = below[d];
    } else {
      grid_.push_back({dims_[d], chunk_[d], below[d], inside});
    }
    inside *= chunk_[d];
  }
  std::ranges::reverse(grid_);
}

std::expected<void, Reason> DatasetMap::find_chunks(void* dataset, hid_t connector, hid_t creation,
                                                    bool writable) {
  if (H5Pget_chunk(creation, static_cast<int>(chunk_.size()), chunk_.data()) != static_cast<int>(rank_))
    return std::unexpected(Reason::kNotNative);
  if (const auto located = locate_chunks(dataset, connector); !located) {
    if (located.error() != Reason::kPartlyAllocated || writable) return located;
    return find_fill(creation);
  }
  return {};
}

// All of them have a place, or kPartlyAllocated.
std::expected<void, Reason> DatasetMap::locate_chunks(void* dataset, hid_t connector) {
  std::array<std::uint64_t, 32> below{};
  const auto total = count_chunks(below);
  if (!total) return std::unexpected(Reason::kTooManyChunks);
  lay_grid(below);
  chunks_.assign(*total, kHole);
  Collector collector{chunks_, chunk_, below, rank_};
  H5VL_native_dataset_optional_args_t native{};
  native.chunk_iter.op = Collector::take;
  native.chunk_iter.op_data = &collector;
  if (!ask_native(dataset, connector, H5VL_NATIVE_DATASET_CHUNK_ITER, native))
    return std::unexpected(Reason::kNotNative);
  if (collector.found == 0) return std::unexpected(Reason::kNotAllocated);
  if (collector.found != *total) return std::unexpected(Reason::kPartlyAllocated);
  return {};
}

std::expected<void, Reason> DatasetMap::grow(void* dataset, hid_t connector, bool writable) {
  const Quiet quiet;
  if (const auto found = find_extent(dataset, connector); !found) return found;
  const auto located = locate_chunks(dataset, connector);
  if (located || located.error() != Reason::kPartlyAllocated || writable) return located;
  if (!fill_.empty()) return {};
  return find_fill(ask(dataset, connector, H5VL_DATASET_GET_DCPL).get());
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
