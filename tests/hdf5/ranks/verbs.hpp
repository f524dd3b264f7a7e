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
// The same of calls for several datasets, some of which are filtered.
int mixed(const std::string& path);
// Extends a dataset by one chunk `times` times, writing each, and prints how long that took. Then reads it.
int grow(const std::string& path, unsigned times);
// Writes a dataset while HDF5 fills chunks before and behind it, and looks whether it is there, `times`
// times.
int gaps(const std::string& path, unsigned times);
// Reads, copies and deletes a dataset of another file by a link that leads there, or a mount.
int links(const std::string& path);
// Flushes a file through the one that it is mounted in, and looks at home.
int flushes(const std::string& path);
// Writes to several datasets at once, the first of which one rank cannot write.
int multi(const std::string& path);
// Ranks that bring different datasets to one collective call.
int unlike(const std::string& path);
// Flushes a file, leaving the markers FILE.flushed0, ..., and dies by SIGKILL some time later: while it
// writes over what was flushed, or while it closes. `seed` says when, and whether one rank is killed or all
// are. FILE.closed0, ... are there if it had closed.
int killed(const std::string& path, unsigned seed);
// Natively, on one rank: does the file that they left hold what was written `at_least` so many times?
int survived(const std::string& path, unsigned at_least);

// A file on the MPI-IO driver.
[[nodiscard]] hid_t create(const std::string& path, bool collective_metadata = false);
[[nodiscard]] hid_t open(const std::string& path, unsigned flags, bool collective_metadata = false);
[[nodiscard]] hid_t collective_list();
[[nodiscard]] int rank();
[[nodiscard]] int size();

inline constexpr hsize_t kPart = 2048;  // elements of each rank
// A dataset of 32-bit integers.
[[nodiscard]] hid_t make(hid_t file, const char* name, hsize_t elements, hid_t dcpl = H5P_DEFAULT);
// Its dataspace with this rank's part selected.
[[nodiscard]] hid_t my_part(hid_t dataset);
// Calls move(memory, space) for this rank's part of one.
template <class Move>
herr_t move_mine(hid_t dataset, const Move& move) {
  const hid_t space = my_part(dataset);
  const hid_t memory = H5Screate_simple(1, &kPart, nullptr);
  const auto result = move(memory, space);
  H5Sclose(memory);
  H5Sclose(space);
  return result;
}

}  // namespace forebay::testing::ranks
