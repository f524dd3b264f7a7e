// What an MPI_Info says.
#pragma once

#include <mpi.h>

#include <array>
#include <string>

namespace forebay::mpiio {

// The value of a key; empty if it is not there.
inline std::string info_value(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> text{};
  int there = 0;
  PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text.data(), &there);
  return there != 0 ? text.data() : "";
}

}  // namespace forebay::mpiio
