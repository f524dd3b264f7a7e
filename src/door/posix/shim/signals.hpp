// Handlers of signals run outside the engine: what they read, write or leave behind (a longjmp, an exit) must
// not meet locks that their own thread holds.
//
// The kernel is given one handler of ours for all of the program's. A signal that comes while its thread is
// inside waits there, with every other one blocked, and is sent to the thread once more when it leaves: so
// the kernel itself starts the handler, with its mask and on its stack. What a thread does to itself (SIGSEGV
// and its like) cannot wait and is not wrapped; nor is what a program sets by number (syscall).
#pragma once

#include <signal.h>

#include "door/posix/shim/state.hpp"

namespace forebay::posix {

// Did a signal that does not restart calls come since this was made? Whoever prepared for a call that waits
// must not begin it then, for nobody would wake it any more.
class Interruption {
 public:
  Interruption() : before_(thread.interruptions) {}
  [[nodiscard]] bool came() const { return thread.interruptions != before_; }

 private:
  unsigned before_;
};

}  // namespace forebay::posix
