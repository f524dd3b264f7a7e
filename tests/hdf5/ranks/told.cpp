#include "hdf5/ranks/told.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <format>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {

void print_in_turn(const std::string& line) {
  std::vector<char> mine(160, ' ');
  std::copy_n(line.begin(), std::min(line.size(), mine.size()), mine.begin());
  std::vector<char> all(mine.size() * static_cast<std::size_t>(size()));
  MPI_Gather(mine.data(), 160, MPI_CHAR, all.data(), 160, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank() != 0) return;
  for (std::size_t at = 0; at < all.size(); at += mine.size())
    std::printf("%s\n", std::string(all.data() + at, mine.size()).c_str());
}

std::string told(hid_t list) {
  H5D_mpio_actual_io_mode_t mode{};
  H5D_mpio_actual_chunk_opt_mode_t chunks{};
  std::uint32_t here = 0;
  std::uint32_t anywhere = 0;
  H5Pget_mpio_actual_io_mode(list, &mode);
  H5Pget_mpio_actual_chunk_opt_mode(list, &chunks);
  H5Pget_mpio_no_collective_cause(list, &here, &anywhere);
  std::uint32_t selections = 0;
  std::uint32_t no_selections = 0;
  H5Pget_actual_selection_io_mode(list, &selections);
  H5Pget_no_selection_io_cause(list, &no_selections);
  return std::format("mode {} chunks {} causes {} {} selections {} {}", static_cast<int>(mode),
                     static_cast<int>(chunks), here, anywhere, selections, no_selections);
}

}  // namespace forebay::testing::ranks
