#include "door/mpiio/sieving.hpp"

#include <strings.h>

#include "door/mpiio/info.hpp"

namespace forebay::mpiio {
namespace {

constexpr const char* kSievingKey = "romio_ds_write";
// Not a word that a program would use, but one that means the same to ROMIO: whoever sets the hint later is
// noticed by it.
constexpr const char* kOff = "DISABLE";

std::string told(MPI_File real) {
  MPI_Info used = MPI_INFO_NULL;
  if (PMPI_File_get_info(real, &used) != MPI_SUCCESS) return {};
  auto value = info_value(used, kSievingKey);
  PMPI_Info_free(&used);
  return value;
}

void tell(MPI_File real, const char* value) {
  MPI_Info wanted = MPI_INFO_NULL;
  PMPI_Info_create(&wanted);
  PMPI_Info_set(wanted, kSievingKey, value);
  PMPI_File_set_info(real, wanted);
  PMPI_Info_free(&wanted);
}

}  // namespace

bool may_sieve(MPI_File real) { return ::strcasecmp(told(real).c_str(), kOff) != 0; }

void SievingHint::switch_off(MPI_File real) {
  const auto value = told(real);
  if (value.empty() || value == kOff) return;
  shown_ = value;
  tell(real, kOff);
}

void SievingHint::switch_on_again(MPI_File real) {
  if (!shown_.empty() && told(real) == kOff) tell(real, shown_.c_str());
  shown_.clear();
}

void SievingHint::conceal(MPI_Info info) const {
  if (!shown_.empty() && info_value(info, kSievingKey) == kOff)
    PMPI_Info_set(info, kSievingKey, shown_.c_str());
}

}  // namespace forebay::mpiio
