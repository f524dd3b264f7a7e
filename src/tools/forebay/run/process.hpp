// Other processes, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace forebay {

struct Process {
  pid_t parent = 0;       // 0: it is gone
  std::string started{};  // in ticks since the machine's start: with the pid, a name nobody else has
};
Process look_at_process(pid_t pid);

// /proc/PID/`file`; empty if it is gone, or somebody else's.
std::string text_of_process(pid_t pid, std::string_view file);

// Is `pid` the process `ancestor`, or was it started by it, directly or not? False for one that is gone, and
// for one whose parents have left it.
bool descends_from(pid_t pid, pid_t ancestor);

}  // namespace forebay
