// Whether a file that the program opened is buffered, and how.
#pragma once

#include <mpi.h>

#include <memory>

#include "door/mpiio/open_file.hpp"

namespace forebay::mpiio {

// Collective over `comm`, after PMPI_File_open returned on this rank, also if it failed (`real` is
// MPI_FILE_NULL then). Either every rank gets one, or none does: null.
std::shared_ptr<OpenFile> begin_buffering(MPI_Comm comm, const char* name, int amode, MPI_Info info,
                                          MPI_File real);

// PMPI_File_delete, and what a buffer of this node has of the file goes with it. Buffers of other nodes are
// not told.
int delete_file(const char* name, MPI_Info info);

}  // namespace forebay::mpiio
