// What Fortran hands over, as C has it, and the symbols under which Fortran calls.
//
// MPICH's mpif.h and `use mpi` call the C functions, and so do those of `use mpi_f08` that have a buffer; the
// others of mpi_f08 call PMPI by themselves. Open MPI's bindings all do: mpif.h and `use mpi` through
// mpi_file_<name>_, mpi_f08 through ompi_file_<name>_f (but for one: fortran_file_calls.cpp).
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "door/mpiio/api.hpp"

namespace forebay::mpiio {

// Blanks around it do not count.
inline std::string fortran_text(const char* text, std::size_t length) {
  std::string_view view(text, length);
  const auto first = view.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(view.substr(first, view.find_last_not_of(' ') - first + 1));
}

// mpi_f08 may leave it out.
inline void answer(MPI_Fint* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

}  // namespace forebay::mpiio

#ifdef OPEN_MPI
#define FOREBAY_FORTRAN(NAME, PARAMETERS, ARGUMENTS)                                     \
  FOREBAY_MPI_API void ompi_file_##NAME##_f PARAMETERS;                                  \
  FOREBAY_MPI_API void mpi_file_##NAME##_ PARAMETERS;                                    \
  FOREBAY_MPI_API void mpi_file_##NAME##_ PARAMETERS { ompi_file_##NAME##_f ARGUMENTS; } \
  FOREBAY_MPI_API void ompi_file_##NAME##_f PARAMETERS
#else
#define FOREBAY_FORTRAN(NAME, PARAMETERS, ARGUMENTS)      \
  FOREBAY_MPI_API void mpi_file_##NAME##_f08_ PARAMETERS; \
  FOREBAY_MPI_API void mpi_file_##NAME##_f08_ PARAMETERS
#endif
