// Fortran's names for the functions of data_calls.cpp. MPICH's own call the C functions.
#include "door/mpiio/fortran.hpp"

#ifdef OPEN_MPI

extern "C" char mpi_fortran_bottom_;

namespace forebay::mpiio {
namespace {

void* memory(void* buffer) { return buffer == &mpi_fortran_bottom_ ? MPI_BOTTOM : buffer; }

template <class Call>
void with_status(MPI_Fint* status, MPI_Fint* ierror, Call&& call) {
  const bool ignored = status == MPI_F_STATUS_IGNORE;
  MPI_Status told;
  if (!ignored) PMPI_Status_f2c(status, &told);
  const int code = call(ignored ? MPI_STATUS_IGNORE : &told);
  if (!ignored && code == MPI_SUCCESS) PMPI_Status_c2f(&told, status);
  answer(ierror, code);
}

template <class Call>
void with_request(MPI_Fint* request, MPI_Fint* ierror, Call&& call) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = call(&made);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
  answer(ierror, code);
}

}  // namespace
}  // namespace forebay::mpiio

using namespace forebay::mpiio;

#define FOREBAY_FILE PMPI_File_f2c(*file)
#define FOREBAY_DATA memory(buffer), *count, PMPI_Type_f2c(*type)

#define FOREBAY_F_AT(NAME)                                                                              \
  FOREBAY_FORTRAN(NAME,                                                                                 \
                  (const MPI_Fint* file, const MPI_Offset* offset, void* buffer, const MPI_Fint* count, \
                   const MPI_Fint* type, MPI_Fint* status, MPI_Fint* ierror),                           \
                  (file, offset, buffer, count, type, status, ierror)) {                                \
    with_status(status, ierror, [&](MPI_Status* told) {                                                 \
      return MPI_File_##NAME(FOREBAY_FILE, *offset, FOREBAY_DATA, told);                                \
    });                                                                                                 \
  }
#define FOREBAY_F_HERE(NAME)                                                                          \
  FOREBAY_FORTRAN(NAME,                                                                               \
                  (const MPI_Fint* file, void* buffer, const MPI_Fint* count, const MPI_Fint* type,   \
                   MPI_Fint* status, MPI_Fint* ierror),                                               \
                  (file, buffer, count, type, status, ierror)) {                                      \
    with_status(status, ierror,                                                                       \
                [&](MPI_Status* told) { return MPI_File_##NAME(FOREBAY_FILE, FOREBAY_DATA, told); }); \
  }
#define FOREBAY_F_IAT(NAME)                                                                             \
  FOREBAY_FORTRAN(NAME,                                                                                 \
                  (const MPI_Fint* file, const MPI_Offset* offset, void* buffer, const MPI_Fint* count, \
                   const MPI_Fint* type, MPI_Fint* request, MPI_Fint* ierror),                          \
                  (file, offset, buffer, count, type, request, ierror)) {                               \
    with_request(request, ierror, [&](MPI_Request* made) {                                              \
      return MPI_File_##NAME(FOREBAY_FILE, *offset, FOREBAY_DATA, made);                                \
    });                                                                                                 \
  }
#define FOREBAY_F_IHERE(NAME)                                                                           \
  FOREBAY_FORTRAN(NAME,                                                                                 \
                  (const MPI_Fint* file, void* buffer, const MPI_Fint* count, const MPI_Fint* type,     \
                   MPI_Fint* request, MPI_Fint* ierror),                                                \
                  (file, buffer, count, type, request, ierror)) {                                       \
    with_request(request, ierror,                                                                       \
                 [&](MPI_Request* made) { return MPI_File_##NAME(FOREBAY_FILE, FOREBAY_DATA, made); }); \
  }
#define FOREBAY_F_AT_BEGIN(NAME)                                                                        \
  FOREBAY_FORTRAN(NAME##_begin,                                                                         \
                  (const MPI_Fint* file, const MPI_Offset* offset, void* buffer, const MPI_Fint* count, \
                   const MPI_Fint* type, MPI_Fint* ierror),                                             \
                  (file, offset, buffer, count, type, ierror)) {                                        \
    answer(ierror, MPI_File_##NAME##_begin(FOREBAY_FILE, *offset, FOREBAY_DATA));                       \
  }                                                                                                     \
  FOREBAY_F_END(NAME)
#define FOREBAY_F_BEGIN(NAME)                                                                              \
  FOREBAY_FORTRAN(                                                                                         \
      NAME##_begin,                                                                                        \
      (const MPI_Fint* file, void* buffer, const MPI_Fint* count, const MPI_Fint* type, MPI_Fint* ierror), \
      (file, buffer, count, type, ierror)) {                                                               \
    answer(ierror, MPI_File_##NAME##_begin(FOREBAY_FILE, FOREBAY_DATA));                                   \
  }                                                                                                        \
  FOREBAY_F_END(NAME)
#define FOREBAY_F_END(NAME)                                                                             \
  FOREBAY_FORTRAN(NAME##_end, (const MPI_Fint* file, void* buffer, MPI_Fint* status, MPI_Fint* ierror), \
                  (file, buffer, status, ierror)) {                                                     \
    with_status(status, ierror, [&](MPI_Status* told) {                                                 \
      return MPI_File_##NAME##_end(FOREBAY_FILE, memory(buffer), told);                                 \
    });                                                                                                 \
  }

FOREBAY_F_AT(read_at)
FOREBAY_F_AT(read_at_all)
FOREBAY_F_AT(write_at)
FOREBAY_F_AT(write_at_all)
FOREBAY_F_HERE(read)
FOREBAY_F_HERE(read_all)
FOREBAY_F_HERE(read_shared)
FOREBAY_F_HERE(read_ordered)
FOREBAY_F_HERE(write)
FOREBAY_F_HERE(write_all)
FOREBAY_F_HERE(write_shared)
FOREBAY_F_HERE(write_ordered)
FOREBAY_F_IAT(iread_at)
FOREBAY_F_IAT(iread_at_all)
FOREBAY_F_IAT(iwrite_at)
FOREBAY_F_IAT(iwrite_at_all)
FOREBAY_F_IHERE(iread)
FOREBAY_F_IHERE(iread_all)
FOREBAY_F_IHERE(iread_shared)
FOREBAY_F_IHERE(iwrite)
FOREBAY_F_IHERE(iwrite_all)
FOREBAY_F_IHERE(iwrite_shared)
FOREBAY_F_AT_BEGIN(read_at_all)
FOREBAY_F_AT_BEGIN(write_at_all)
FOREBAY_F_BEGIN(read_all)
FOREBAY_F_BEGIN(read_ordered)
FOREBAY_F_BEGIN(write_all)
FOREBAY_F_BEGIN(write_ordered)

#endif
