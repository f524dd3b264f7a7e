// Calls that may free space in a file, which data written later are then given.
//
// Files that keep the state of their last flush are told (FlushedState): all that are open, because a link or
// a mount may lead from one to another.
#pragma once

#include <hdf5.h>

#include "door/hdf5/dataset_object.hpp"

namespace forebay::hdf5 {

void expect_reuse();

// Writing to a dataset overwrites data in place, unless chunks are stored as filters make them or elements
// lie in a heap.
void expect_reuse_by_writing(DatasetObject& dataset);

// Do elements of the type lie where the dataset does, and not in a heap?
[[nodiscard]] bool has_fixed_size(hid_t type);

}  // namespace forebay::hdf5
