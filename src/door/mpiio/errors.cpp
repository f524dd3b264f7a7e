#include "door/mpiio/errors.hpp"

#include <cerrno>

#include "base/log.hpp"

namespace forebay::mpiio {

int error_class(const Error& error) {
  switch (error.code) {
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

int raise(MPI_File file, int code) {
  PMPI_File_call_errhandler(file, code);
  return code;
}

int raise(MPI_File file, const Error& error) {
  log_error("MPI-IO: {}", error.message);
  return raise(file, error_class(error));
}

}  // namespace forebay::mpiio
