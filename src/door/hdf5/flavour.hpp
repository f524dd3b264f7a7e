// A plugin built for one HDF5 and loaded into a process that runs another has two HDF5 libraries in it, and
// crashes in its first call. It is recognised before that.
#pragma once

#include "door/hdf5/export.hpp"

namespace forebay::hdf5 {

// `caller` is an address in the HDF5 that loads the plugin. False: that is not the HDF5 the plugin would
// call; says so on standard error, once.
[[nodiscard]] FOREBAY_HDF5_EXPORT bool is_right_flavour(const void* caller);

}  // namespace forebay::hdf5
