#include "door/mpiio/status.hpp"

#include <memory>

namespace forebay::mpiio {
namespace {

int tell(void* state, MPI_Status* status) {
  set_status(status, *static_cast<const std::uint64_t*>(state));
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int end(void* state) {
  delete static_cast<std::uint64_t*>(state);
  return MPI_SUCCESS;
}

int cancel(void* /*state*/, int /*complete*/) { return MPI_SUCCESS; }

}  // namespace

void set_status(MPI_Status* status, std::uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  PMPI_Status_set_cancelled(status, 0);
}

std::uint64_t moved_bytes(const MPI_Status& status) {
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

int completed_request(std::uint64_t bytes, MPI_Request* request) {
  auto state = std::make_unique<std::uint64_t>(bytes);
  const int code = PMPI_Grequest_start(tell, end, cancel, state.get(), request);
  if (code != MPI_SUCCESS) return code;
  (void)state.release();
  return PMPI_Grequest_complete(*request);
}

}  // namespace forebay::mpiio
