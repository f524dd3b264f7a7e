// How a call of <forebay/hdf5.h> reaches the connector. Nothing here needs more than HDF5 and the C library:
// programs in C link it.
#pragma once

#include <hdf5.h>

#include "door/hdf5/operations.hpp"

namespace forebay::hdf5 {

// Where in the program a call is made.
struct Place {
  const char* file;
  const char* function;
  unsigned line;
};

// Leaves one entry on the error stack, printed as HDF5 prints its own. Returns -1.
herr_t refuse(const Place& place, hid_t minor, const char* words);

// `args` are those of the operation; `events` may be H5ES_NONE.
herr_t call(const Place& place, DatasetOperation what, hid_t dataset, void* args, hid_t dxpl, hid_t events);
herr_t call(const Place& place, FileOperation what, hid_t file, void* args, hid_t events);

}  // namespace forebay::hdf5
