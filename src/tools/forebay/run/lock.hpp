// Proof that somebody runs a command on a buffer.
//
// Beside the buffer's directory lies NAME.run, on which every `forebay run` that uses the buffer holds a
// shared lock, which the kernel ends with the process. The last to leave may have the lock alone and then
// removes buffer and file; a file that nobody has locked was left by runs that were killed. Its lines are
// what the POSIX door noted for the report, programs that it does not see (door/posix/shim/unseen.hpp), and,
// behind a tab, what the first of the runs keeps for the last.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "os/fd.hpp"

namespace forebay {

class RunLock {
 public:
  // Joins those who run on the buffer `name` below `directory` (made if need be). ETIMEDOUT: for `patience`
  // somebody has had it alone.
  static Result<RunLock> join(const std::string& directory, const std::string& name,
                              std::chrono::nanoseconds patience);
  // Has it alone, if nobody runs on it. EAGAIN: somebody does. ENOENT: there is no such file.
  static Result<RunLock> take_abandoned(const std::string& directory, const std::string& name);

  // Is nobody else running on the buffer? Then nobody can join until this object goes.
  [[nodiscard]] bool become_the_last();
  // Was nobody else running on the buffer when this one joined? What was left in the file is gone then.
  [[nodiscard]] bool first() const { return first_; }
  // What the first one keeps, lines of text, for all others to see.
  void keep(const std::string& lines);
  [[nodiscard]] std::string kept() const;
  // Each line once.
  [[nodiscard]] std::vector<std::string> notes() const;
  // For who has it alone: the file is removed.
  void remove();

 private:
  RunLock(Fd directory, std::string name, Fd file)
      : directory_(std::move(directory)), name_(std::move(name)), file_(std::move(file)) {}
  [[nodiscard]] std::vector<std::string> lines() const;

  Fd directory_;
  std::string name_;  // of the file
  Fd file_;
  bool first_ = false;
};

// Has a run marked this buffer as its own, living or not?
bool is_marked_by_run(const std::string& directory, const std::string& name);

// The buffers below `directory` that runs have marked as theirs, living or not.
std::vector<std::string> marked_by_runs(const std::string& directory);

}  // namespace forebay
