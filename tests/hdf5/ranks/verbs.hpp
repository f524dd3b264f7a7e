// What h5_ranks can do. Each answers an exit status; all are called by every rank, between MPI_Init with
// MPI_THREAD_SINGLE and MPI_Finalize.
#pragma once

#include <hdf5.h>

#include <string>

namespace forebay::testing::ranks {

// Ranks that do different amounts of work between collective calls; `seed` says how much.
int uneven(const std::string& path, unsigned seed);
// Prints what HDF5 tells about collective transfers, and whether they were, rank by rank.
int modes(const std::string& path);
// Extends a dataset by one chunk `times` times, writing each, and prints how long that took. Then reads it.
int grow(const std::string& path, unsigned times);
// Writes a dataset while HDF5 fills chunks before and behind it, and looks whether it is there, `times`
// times.
int gaps(const std::string& path, unsigned times);

// A file on the MPI-IO driver.
[[nodiscard]] hid_t create(const std::string& path, bool collective_metadata = false);
[[nodiscard]] hid_t open(const std::string& path, unsigned flags, bool collective_metadata = false);
[[nodiscard]] hid_t collective_list();
[[nodiscard]] int rank();
[[nodiscard]] int size();

}  // namespace forebay::testing::ranks
