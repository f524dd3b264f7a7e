// What a program says about a file of its in an MPI_Info: keys `forebay_<setting>`, with underscores for the
// setting's dots, and `forebay_path` or, as another library has it, `pmem_path`.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace forebay::mpiio {

struct Wishes {
  std::vector<std::string> settings{};  // "key=value", for this file
  std::string path{};                   // the directory of the tier to use
  // Was anything asked for? Then the file is meant, with `homes` or without.
  [[nodiscard]] bool any() const { return !settings.empty() || !path.empty(); }
};

[[nodiscard]] Wishes wishes_of(MPI_Info info);

// Adds the keys of the settings that a file has to what MPI tells of its hints, and the path that was wished.
void tell(const FileSettings& settings, const std::string& path, MPI_Info info);

}  // namespace forebay::mpiio
