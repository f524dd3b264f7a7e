// Datatypes flattened once: predefined ones are kept by handle, others hang at the handle as an attribute and
// go with it. Thread-safe.
#pragma once

#include <mpi.h>

#include "door/mpiio/flat_type.hpp"

namespace forebay::mpiio {

struct KnownType {
  const FlatType* flat = nullptr;  // null: it cannot be flattened. As long as the handle
  bool fresh = false;              // seen for the first time: nobody has checked yet that it was committed
};

// `type` is a valid handle.
KnownType known_type(MPI_Datatype type);

// It will be fresh again.
void forget_type(MPI_Datatype type);

}  // namespace forebay::mpiio
