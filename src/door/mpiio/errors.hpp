// The one place where an error of the engine becomes one of MPI.
#pragma once

#include <mpi.h>

#include "base/error.hpp"

namespace forebay::mpiio {

[[nodiscard]] int error_class(const Error& error);

// Calls the file's error handler, as a native call that fails does, and returns the code to return.
int raise(MPI_File file, int code);
// The same; the words go to the log, where MPI has no place for them.
int raise(MPI_File file, const Error& error);

}  // namespace forebay::mpiio
