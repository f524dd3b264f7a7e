// The matrix: for each layout and datatype a dataset with one of the selections, taken through its life.
#pragma once

#include "hdf5/matrix/session.hpp"

namespace forebay::testing::matrix {

// Makes matrix.h5, heap.h5 and what their datasets need beside them; writes, overwrites, extends, shrinks,
// deletes, makes anew, copies, flushes and opens again, and logs all that is read back.
void run_matrix(Session& session);

// What is not a dataset's life: attributes, links, groups, chunks by hand, several datasets in one call,
// event sets, mounted and twice opened files, and datasets larger than a bucket of the buffer. Makes
// extras.h5.
void run_extras(Session& session);

// Prints what the file holds, as HDF5 without a connector sees it.
int dump(const std::string& path);
int print_extents(const std::string& path);

}  // namespace forebay::testing::matrix
