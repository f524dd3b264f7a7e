// What a program asks of the buffer through <forebay/hdf5.h>, carried out.
#pragma once

#include <hdf5.h>

#include <H5VLconnector.h>

#include "door/hdf5/operations.hpp"

namespace forebay::hdf5 {

// `args` are those of the operation (operations.hpp). Where a file is not buffered there is nothing to
// control: reads read, all others succeed and do nothing. `request` as in every callback.
herr_t control(DatasetOperation what, void* dataset, void* args, hid_t dxpl, void** request);
herr_t control(FileOperation what, void* file, void* args);

}  // namespace forebay::hdf5
