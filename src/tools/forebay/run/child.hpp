// Running a command as if it had been started in this process's place: same terminal, same process group, and
// every signal that this process gets is passed on.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace forebay {

struct Ended {
  int code = 0;    // exit status
  int signal = 0;  // that ended it, or 0
};

// Starts `program` (a path) with these words and variables, and waits for it. A file without #! that is no
// program is run by sh, as execvp does it. An error is that of execve. While the command is stopped, this
// process is stopped too. If this process is killed, so is the command.
Result<Ended> run_child(const std::string& program, const std::vector<std::string>& words,
                        const std::vector<std::string>& variables);

// Ends this process as the command ended: with its status, or by the same signal.
[[noreturn]] void end_like(const Ended& ended);

}  // namespace forebay
