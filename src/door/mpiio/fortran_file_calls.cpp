// Fortran's names for the functions of file_calls.cpp.
#include "door/mpiio/fortran.hpp"

using namespace forebay::mpiio;

// The length of a text comes last, of a type that compilers do not agree upon: its lower half is the same.
FOREBAY_FORTRAN(open,
                (const MPI_Fint* comm, const char* name, const MPI_Fint* amode, const MPI_Fint* info,
                 MPI_Fint* file, MPI_Fint* ierror, int length),
                (comm, name, amode, info, file, ierror, length)) {
  const int code = guarded([&] {
    MPI_File opened = MPI_FILE_NULL;
    const int result =
        MPI_File_open(PMPI_Comm_f2c(*comm), fortran_text(name, static_cast<std::size_t>(length)).c_str(),
                      *amode, PMPI_Info_f2c(*info), &opened);
    if (result == MPI_SUCCESS) *file = PMPI_File_c2f(opened);
    return result;
  });
  answer(ierror, code);
}

#ifdef FOREBAY_MPI_SESSIONS
#ifdef OPEN_MPI
#define FOREBAY_SESSION_FINALIZE ompi_session_finalize_f
#else
#define FOREBAY_SESSION_FINALIZE mpi_session_finalize_f08_
#endif
FOREBAY_MPI_API void FOREBAY_SESSION_FINALIZE(MPI_Fint* session, MPI_Fint* ierror);
FOREBAY_MPI_API void FOREBAY_SESSION_FINALIZE(MPI_Fint* session, MPI_Fint* ierror) {
  MPI_Session ended = PMPI_Session_f2c(*session);
  const int code = MPI_Session_finalize(&ended);
  if (code == MPI_SUCCESS) *session = PMPI_Session_c2f(ended);
  answer(ierror, code);
}
#ifdef OPEN_MPI
FOREBAY_MPI_API void mpi_session_finalize_(MPI_Fint* session, MPI_Fint* ierror);
FOREBAY_MPI_API void mpi_session_finalize_(MPI_Fint* session, MPI_Fint* ierror) {
  ompi_session_finalize_f(session, ierror);
}
#endif
#endif

FOREBAY_FORTRAN(close, (MPI_Fint * file, MPI_Fint* ierror), (file, ierror)) {
  MPI_File closed = PMPI_File_f2c(*file);
  const int code = MPI_File_close(&closed);
  if (code == MPI_SUCCESS) *file = PMPI_File_c2f(closed);
  answer(ierror, code);
}

FOREBAY_FORTRAN(delete, (const char* name, const MPI_Fint* info, MPI_Fint* ierror, int length),
                (name, info, ierror, length)) {
  answer(ierror, guarded([&] {
           return MPI_File_delete(fortran_text(name, static_cast<std::size_t>(length)).c_str(),
                                  PMPI_Info_f2c(*info));
         }));
}

FOREBAY_FORTRAN(set_view,
                (const MPI_Fint* file, const MPI_Offset* displacement, const MPI_Fint* etype,
                 const MPI_Fint* filetype, const char* datarep, const MPI_Fint* info, MPI_Fint* ierror,
                 int length),
                (file, displacement, etype, filetype, datarep, info, ierror, length)) {
  answer(ierror, guarded([&] {
           return MPI_File_set_view(
               PMPI_File_f2c(*file), *displacement, PMPI_Type_f2c(*etype), PMPI_Type_f2c(*filetype),
               fortran_text(datarep, static_cast<std::size_t>(length)).c_str(), PMPI_Info_f2c(*info));
         }));
}

FOREBAY_FORTRAN(set_size, (const MPI_Fint* file, const MPI_Offset* size, MPI_Fint* ierror),
                (file, size, ierror)) {
  answer(ierror, MPI_File_set_size(PMPI_File_f2c(*file), *size));
}

FOREBAY_FORTRAN(get_size, (const MPI_Fint* file, MPI_Offset* size, MPI_Fint* ierror), (file, size, ierror)) {
  answer(ierror, MPI_File_get_size(PMPI_File_f2c(*file), size));
}

FOREBAY_FORTRAN(preallocate, (const MPI_Fint* file, const MPI_Offset* size, MPI_Fint* ierror),
                (file, size, ierror)) {
  answer(ierror, MPI_File_preallocate(PMPI_File_f2c(*file), *size));
}

FOREBAY_FORTRAN(sync, (const MPI_Fint* file, MPI_Fint* ierror), (file, ierror)) {
  answer(ierror, MPI_File_sync(PMPI_File_f2c(*file)));
}

FOREBAY_FORTRAN(set_atomicity, (const MPI_Fint* file, const MPI_Fint* flag, MPI_Fint* ierror),
                (file, flag, ierror)) {
  answer(ierror, MPI_File_set_atomicity(PMPI_File_f2c(*file), *flag != 0 ? 1 : 0));
}

#ifdef OPEN_MPI
// The only one that mpi_f08 does not call by ompi_file_<name>_f.
FOREBAY_MPI_API void mpi_file_set_atomicity_f08_(const MPI_Fint* file, const MPI_Fint* flag,
                                                 MPI_Fint* ierror);
FOREBAY_MPI_API void mpi_file_set_atomicity_f08_(const MPI_Fint* file, const MPI_Fint* flag,
                                                 MPI_Fint* ierror) {
  ompi_file_set_atomicity_f(file, flag, ierror);
}
#endif

FOREBAY_FORTRAN(seek,
                (const MPI_Fint* file, const MPI_Offset* offset, const MPI_Fint* whence, MPI_Fint* ierror),
                (file, offset, whence, ierror)) {
  answer(ierror, MPI_File_seek(PMPI_File_f2c(*file), *offset, *whence));
}

FOREBAY_FORTRAN(get_position, (const MPI_Fint* file, MPI_Offset* offset, MPI_Fint* ierror),
                (file, offset, ierror)) {
  answer(ierror, MPI_File_get_position(PMPI_File_f2c(*file), offset));
}

FOREBAY_FORTRAN(seek_shared,
                (const MPI_Fint* file, const MPI_Offset* offset, const MPI_Fint* whence, MPI_Fint* ierror),
                (file, offset, whence, ierror)) {
  answer(ierror, MPI_File_seek_shared(PMPI_File_f2c(*file), *offset, *whence));
}

FOREBAY_FORTRAN(get_position_shared, (const MPI_Fint* file, MPI_Offset* offset, MPI_Fint* ierror),
                (file, offset, ierror)) {
  answer(ierror, MPI_File_get_position_shared(PMPI_File_f2c(*file), offset));
}

FOREBAY_FORTRAN(set_info, (const MPI_Fint* file, const MPI_Fint* info, MPI_Fint* ierror),
                (file, info, ierror)) {
  answer(ierror, MPI_File_set_info(PMPI_File_f2c(*file), PMPI_Info_f2c(*info)));
}

FOREBAY_FORTRAN(get_info, (const MPI_Fint* file, MPI_Fint* info, MPI_Fint* ierror), (file, info, ierror)) {
  MPI_Info used = MPI_INFO_NULL;
  const int code = MPI_File_get_info(PMPI_File_f2c(*file), &used);
  if (code == MPI_SUCCESS) *info = PMPI_Info_c2f(used);
  answer(ierror, code);
}
