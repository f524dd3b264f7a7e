// ROMIO's data sieving of writes, switched off for a file without the program noticing: it reads what lies
// between the pieces and writes it again, and would undo what others brought home meanwhile.
//
// Of libraries that do not tell of such a hint (OMPIO sieves in collective calls only) nothing is changed.
#pragma once

#include <mpi.h>

#include <string>

namespace forebay::mpiio {

// Unless the program's hints forbid it. (OMPIO has no such hint.)
[[nodiscard]] bool may_sieve(MPI_File real);

class SievingHint {
 public:
  // Both collective. Later calls of the program that set hints are to be followed by one of them.
  void switch_off(MPI_File real);
  void switch_on_again(MPI_File real);
  // In what MPI told of the file's hints: as if nothing had been done.
  void conceal(MPI_Info info) const;

 private:
  std::string shown_;  // what the program would see; empty while nothing is changed
};

}  // namespace forebay::mpiio
