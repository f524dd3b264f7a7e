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

// Takes `bytes` of what memory_room() said last, if that was a moment ago and `rest` remain; false if not.
// Opens nothing: a descriptor that a thread in the background has for a moment shifts the numbers the program
// gets.
bool take_recent_memory_room(std::uint64_t bytes, std::uint64_t rest);

}  // namespace forebay
