// What a call tells about the bytes it moved: in a status, or in a request that has completed already.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace forebay::mpiio {

// `status` may be MPI_STATUS_IGNORE.
void set_status(MPI_Status* status, std::uint64_t bytes);
// What a native call told.
std::uint64_t moved_bytes(const MPI_Status& status);

// Completed before anybody asks: waiting for it, or testing it, tells the bytes.
int completed_request(std::uint64_t bytes, MPI_Request* request);

}  // namespace forebay::mpiio
