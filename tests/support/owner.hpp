// For tests: another process that uses a buffer, until it is killed or told to leave.
#pragma once

#include <sys/types.h>

#include <functional>

#include "config/settings.hpp"
#include "engine/buffer.hpp"

namespace forebay {

class Owner {
 public:
  // Returns when the other process has attached and done `work`; it then waits. The caller must have no threads.
  // Throws with its words if it could not.
  Owner(const Settings& settings, const std::function<void(Buffer&)>& work, AttachOptions options = {});
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { kill(); }

  void kill();   // SIGKILL
  void leave();  // detaches and ends
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
};

}  // namespace forebay
