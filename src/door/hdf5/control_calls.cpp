#include "door/hdf5/control_calls.hpp"

#include <H5VLconnector_passthru.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "door/hdf5/calls.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/prefetch.hpp"

namespace forebay::hdf5 {
namespace {

constexpr auto kEverything = std::numeric_limits<std::uint64_t>::max();

template <class Outcome>
herr_t tell(const Outcome& outcome) {
  if (!outcome) push_error(outcome.error(), H5E_CACHE, H5E_SYSTEM);
  return outcome ? 0 : -1;
}

// As H5Dread does it.
herr_t read(void* dataset, const ReadArguments& args, hid_t dxpl, void** request) {
  void* buffer = args.buffer;
  hid_t memory_type = args.memory_type;
  hid_t memory_space = args.memory_space;
  hid_t file_space = args.file_space;
  return dataset_calls().read(1, &dataset, &memory_type, &memory_space, &file_space, dxpl, &buffer, request);
}

// What its data take up in the file.
std::uint64_t storage_size(const DatasetObject& dataset) {
  hsize_t size = 0;
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_STORAGE_SIZE;
  args.args.get_storage_size.storage_size = &size;
  const ExpectFailure unknown_is_none;
  if (H5VLdataset_get(dataset.under, dataset.vol(), &args, H5P_DATASET_XFER_DEFAULT, nullptr) < 0) return 0;
  return size;
}

herr_t create_cache(const DatasetObject& dataset, File& file) {
  return tell(file.reserve(file.reserved() + storage_size(dataset)));
}

herr_t remove_cache(const DatasetObject& dataset, File& file) {
  for (const auto& range : known_ranges(dataset, H5S_ALL)) {
    if (const auto gone = file.evict(range.offset, range.length); !gone) return tell(gone);
  }
  const auto reserved = file.reserved();
  return tell(file.reserve(reserved - std::min<std::uint64_t>(reserved, storage_size(dataset))));
}

}  // namespace

herr_t control(DatasetOperation what, void* handle, void* args, hid_t dxpl, void** request) {
  auto& one = dataset(handle);
  switch (what) {
    case DatasetOperation::kPrefetch:
      return prefetch(one, static_cast<const PrefetchArguments*>(args)->file_space, request);
    case DatasetOperation::kReadToCache: {
      // Brought first, so that home is read once.
      const auto& how = *static_cast<const ReadArguments*>(args);
      if (prefetch(one, how.file_space, nullptr) < 0) return -1;
      return read(handle, how, dxpl, request);
    }
    case DatasetOperation::kReadFromCache:
      return read(handle, *static_cast<const ReadArguments*>(args), dxpl, request);
    default:
      break;
  }
  const auto file = buffered(one);
  if (!file) return 0;
  switch (what) {
    case DatasetOperation::kCacheCreate:
      return create_cache(one, *file);
    case DatasetOperation::kCacheRemove:
      return remove_cache(one, *file);
    case DatasetOperation::kPause:
    case DatasetOperation::kStart:
      file->pause_drain(what == DatasetOperation::kPause);
      return 0;
    default:
      return -1;
  }
}

herr_t control(FileOperation what, void* handle, void* args) {
  if (what == FileOperation::kQuery) *static_cast<QueryArguments*>(args)->size = 0;
  const auto file = buffered(*object(handle).file);
  if (!file) return 0;
  switch (what) {
    case FileOperation::kReserve: {
      const auto& wish = *static_cast<const ReserveArguments*>(args);
      file->keep_after_close(wish.keep);
      return tell(file->reserve(wish.size));
    }
    case FileOperation::kQuery: {
      const auto room = file->room();
      if (room) *static_cast<QueryArguments*>(args)->size = *room;
      return tell(room);
    }
    case FileOperation::kRemove:
      if (const auto gone = file->evict(0, kEverything); !gone) return tell(gone);
      return tell(file->reserve(0));
    case FileOperation::kPause:
    case FileOperation::kStart:
      file->pause_drain(what == FileOperation::kPause);
      return 0;
    case FileOperation::kDetachOnClose:
      file->detach_on_close();
      return 0;
    case FileOperation::kWaitForHome:
      return tell(file->drain());
  }
  return -1;
}

}  // namespace forebay::hdf5
