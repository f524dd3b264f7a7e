// The numbers that HDF5 gave to our optional operations. HDF5's lock guards them.
#pragma once

#include <hdf5.h>

#include <optional>

#include "door/hdf5/operations.hpp"

namespace forebay::hdf5 {

// Makes our operations known; called for each name that the connector is registered under.
[[nodiscard]] herr_t register_operations();

// Nothing: it is not ours.
[[nodiscard]] std::optional<DatasetOperation> dataset_operation(int number);
[[nodiscard]] std::optional<FileOperation> file_operation(int number);

// The answer to H5VLquery_optional.
herr_t query_operation(void* handle, H5VL_subclass_t kind, int number, uint64_t* flags);

}  // namespace forebay::hdf5
