// What the library of <forebay/hdf5.h> asks of the connector: HDF5's optional operations, which it knows by
// name and numbers at run time. Both sides come from here; the names carry the version of the arguments.
#pragma once

#include <hdf5.h>

#include <H5VLconnector.h>

namespace forebay::hdf5 {

enum class DatasetOperation {
  kPrefetch,       // PrefetchArguments
  kReadToCache,    // ReadArguments
  kReadFromCache,  // ReadArguments
  kCacheCreate,    // none, as all below
  kCacheRemove,
  kPause,
  kStart,
};

enum class FileOperation {
  kReserve,  // ReserveArguments
  kQuery,    // QueryArguments
  kRemove,   // none, as all below
  kPause,
  kStart,
  kDetachOnClose,
  kWaitForHome,
};

struct OperationName {
  const char* name;
  uint64_t flags;  // for those who ask about it (H5VLquery_optional)
};

// In the order of the enums.
inline constexpr OperationName kDatasetOperations[] = {
    {"forebay.1.prefetch", H5VL_OPT_QUERY_SUPPORTED | H5VL_OPT_QUERY_READ_DATA},
    {"forebay.1.read_to_cache", H5VL_OPT_QUERY_SUPPORTED | H5VL_OPT_QUERY_READ_DATA},
    {"forebay.1.read_from_cache", H5VL_OPT_QUERY_SUPPORTED | H5VL_OPT_QUERY_READ_DATA},
    {"forebay.1.cache_create", H5VL_OPT_QUERY_SUPPORTED},
    {"forebay.1.cache_remove", H5VL_OPT_QUERY_SUPPORTED},
    {"forebay.1.pause", H5VL_OPT_QUERY_SUPPORTED},
    {"forebay.1.start", H5VL_OPT_QUERY_SUPPORTED},
};
inline constexpr OperationName kFileOperations[] = {
    {"forebay.2.reserve", H5VL_OPT_QUERY_SUPPORTED},
    {"forebay.1.query", H5VL_OPT_QUERY_SUPPORTED | H5VL_OPT_QUERY_QUERY_METADATA},
    {"forebay.1.remove", H5VL_OPT_QUERY_SUPPORTED},
    {"forebay.1.pause", H5VL_OPT_QUERY_SUPPORTED},
    {"forebay.1.start", H5VL_OPT_QUERY_SUPPORTED},
    {"forebay.1.detach_on_close", H5VL_OPT_QUERY_SUPPORTED},
    {"forebay.1.wait_for_home", H5VL_OPT_QUERY_SUPPORTED},
};

struct PrefetchArguments {
  hid_t file_space;
};
struct ReadArguments {
  hid_t memory_type;
  hid_t memory_space;
  hid_t file_space;
  void* buffer;
};
struct ReserveArguments {
  hsize_t size;
  bool keep;  // what is clean when the file is closed
};
struct QueryArguments {
  hsize_t* size;
};

// Properties of file-access lists, under the names that the Cache VOL gave them: each one hbool_t.
inline constexpr const char* kWriteProperty = "HDF5_CACHE_WR";
inline constexpr const char* kReadProperty = "HDF5_CACHE_RD";

}  // namespace forebay::hdf5
