// What a workload takes over from those before it that name the same file.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

// An openPMD read that does not say what shape it finds: as the last write has it. Before the configuration
// is completed.
void inherit_shape(const std::vector<Workload>& earlier, Workload& workload);

// What a kernel on particles finds in the file: its form, unless told otherwise, and its content. Where that
// is not what it wants, the workload is `fresh`. Of a completed configuration.
Status inherit_file(const std::vector<Workload>& earlier, Workload& workload);

}  // namespace forebay
