// The functions that move data, by what they have in common.
#pragma once

#include <mpi.h>

#include <span>

struct Operation {
  const char* name;
  bool writes;
  bool collective;
  bool at;      // takes an offset; the others have a pointer
  bool shared;  // and that is the shared one
  // Carries it out to its end, whatever form it has. Fills in the status.
  int (*run)(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
             MPI_Status* status);
  // Begins it only, if it is a nonblocking one.
  int (*start)(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
               MPI_Request* request) = nullptr;
};

std::span<const Operation> operations();
