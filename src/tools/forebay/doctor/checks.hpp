// What `forebay doctor` looks at. Each check adds what it finds, in plain words, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace forebay {

enum class Verdict {
  kGood,
  kNote,  // works, could be better
  kFix,   // does not work, or not as asked: the exit status says so
};

struct Finding {
  std::string area;
  Verdict verdict;
  std::string what;
  std::string remedy{};  // empty: nothing to do
};
using Findings = std::vector<Finding>;

// The operating system: kernel, io_uring, memory, huge pages, open files.
void check_machine(const Settings& settings, Findings& findings);

// What systemd may take away.
void check_logind(const Settings& settings, Findings& findings);

// Each tier of resolved settings: there, writable, room, direct I/O, what it survives. Also the buffer's
// directories.
void check_tiers(const Settings& settings, Findings& findings);
void check_directories(const Settings& settings, Findings& findings);

// Buffers of this user: damaged, left by dead processes, not home.
void check_buffers(const Settings& settings, Findings& findings);

// HDF5 and MPI libraries on this system.
void check_libraries(Findings& findings);

}  // namespace forebay
