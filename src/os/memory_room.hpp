// How much memory can still be taken before the kernel starts to kill.
//
// A tmpfs says ENOSPC at its own limit, but knows nothing of the machine's memory and of the control groups
// around this process: past those there is no error, only the OOM killer. So growth asks here first.
#pragma once

#include <cstdint>
#include <string>

namespace forebay {

// Where to look: a test brings its own.
struct MemoryFiles {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

// The least of what the machine and every control group (version 1 or 2) around this process have left,
// counting page cache that can be dropped as free. What cannot be read counts as unlimited.
std::uint64_t memory_room(const MemoryFiles& files = {});

}  // namespace forebay
