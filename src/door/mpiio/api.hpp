// How the functions of MPI that we define begin, and how none of them lets an exception out.
#pragma once

#include <mpi.h>

#include <new>
#include <utility>

#define FOREBAY_MPI_API extern "C" __attribute__((visibility("default")))

// Open MPI has sessions without the rest of MPI 4.
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define FOREBAY_MPI_SESSIONS
#endif

namespace forebay::mpiio {

template <class Body>
int guarded(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  } catch (...) {
    return MPI_ERR_INTERN;
  }
}

}  // namespace forebay::mpiio
