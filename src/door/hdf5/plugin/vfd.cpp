#include <H5PLextern.h>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/flavour.hpp"

H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_VFD; }

const void* H5PLget_plugin_info(void) {
  if (!forebay::hdf5::is_right_flavour(__builtin_return_address(0))) return nullptr;
  return &forebay::hdf5::driver_class();
}
