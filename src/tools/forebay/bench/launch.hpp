// Starting the kernels' program: which one, and on how many ranks.
#pragma once

#include <string>

#include "base/error.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

// From h5bench's `mpi`: command, ranks, configuration, and ours, flavour. The flavour is the command's.
Result<Launch> launch_of(const Texts& mpi);
// The number of ranks that h5bench's `mpi` asks for, in its configuration or else in `ranks`; empty: none.
std::string count_in(const Texts& mpi);

// Where this program lies; as it was when first asked for, since it may be replaced while a long run goes on.
[[nodiscard]] const std::string& own_program();
// Beside this program, as it was built or installed. ENOENT with words when it is not there.
Result<std::string> kernels_program(const std::string& flavour);
// Folder of the workloads that come with Forebay.
std::string workloads_folder();
// The slow file system's program.
std::string slowfs_program();

}  // namespace forebay
