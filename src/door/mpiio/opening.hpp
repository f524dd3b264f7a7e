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

// Before a file is removed: what a buffer still has of it unsaved goes home, so that nothing looks for its
// file later. Nothing for a file that is not ours.
void settle_before_delete(const char* name);

}  // namespace forebay::mpiio
