// The files of this process that are buffered, by their real handle.
//
// Thread-safe. What find() returns is valid until the file is closed: MPI forbids closing a file that another
// thread uses.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "door/mpiio/open_file.hpp"

namespace forebay::mpiio {

// Null for a handle that is not in the table: the native call is to be made with it.
OpenFile* find(MPI_File file);

void insert(MPI_File file, std::shared_ptr<OpenFile> opened);
std::shared_ptr<OpenFile> remove(MPI_File file);

// A part of the program closes down: what is unsaved of any file goes home, and all goes on.
void settle_all();

// The program closes down: everything goes home, and from now on all handles are MPI's alone.
void leave();

}  // namespace forebay::mpiio
