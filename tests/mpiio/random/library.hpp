// The MPI library that is under the programs.
#pragma once

#include <mpi.h>

// What the library that moves the bytes does not do alike twice, or not at all.
struct Library {
  int append = MPI_MODE_APPEND;
  bool allocates_in_view = false;  // preallocate writes what the view shows, and more than was asked for
  bool seeks_shared_end = true;    // and lands there
  bool judges_offsets = true;      // negative ones; otherwise it writes somewhere, up to exabytes away
  bool creates_together = true;    // otherwise other ranks may look for it before rank 0 has made it
};
#ifdef OPEN_MPI
// The pointer is anywhere after an open with MPI_MODE_APPEND.
inline constexpr Library library{0, true, false, false, false};
#else
inline constexpr Library library{};
#endif
