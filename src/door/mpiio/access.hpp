// One access to the data of a file, whatever function asked for it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "door/mpiio/open_file.hpp"

namespace forebay::mpiio {

struct Access {
  Way way;
  Pointer pointer;
  MPI_Offset offset;  // in etypes, for Pointer::kExplicit
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  bool collective = false;   // others make the same call
  bool nonblocking = false;  // what was asked for returns a request
  bool split = false;        // or ends with another call
};

struct Outcome {
  int code = MPI_SUCCESS;  // otherwise the error handler has been called
  std::uint64_t bytes = 0;
};

// Serves it from the buffer. What the buffer cannot serve exactly (a wrong argument, a read at the end of the
// file, a type that is not flat) the real handle does, by an independent call: never more than this rank need
// know of it. Nothing: the arguments are such that the very call that was made, natively, will refuse them.
// Collective for Pointer::kOrdered only. Must not be called when the file passes such accesses.
std::optional<Outcome> perform(OpenFile& file, const Access& access);

}  // namespace forebay::mpiio
