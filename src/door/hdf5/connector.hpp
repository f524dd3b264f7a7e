// The VOL connector: a table of callbacks.
#pragma once

#include <hdf5.h>

#include <H5VLconnector.h>

#include "door/hdf5/export.hpp"

namespace forebay::hdf5 {

inline constexpr const char* kConnectorName = "forebay";
inline constexpr H5VL_class_value_t kConnectorValue = 419;
// The name and value under which users of the Cache VOL know theirs.
inline constexpr const char* kCacheName = "cache_ext";
inline constexpr H5VL_class_value_t kCacheValue = 513;

[[nodiscard]] FOREBAY_HDF5_EXPORT const H5VL_class_t& connector_class();
// The same connector under its other name.
[[nodiscard]] FOREBAY_HDF5_EXPORT const H5VL_class_t& cache_connector_class();

}  // namespace forebay::hdf5
