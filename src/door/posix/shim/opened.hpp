// What becomes of a descriptor that was just made.
#pragma once

#include "door/posix/shim/homes.hpp"
#include "door/posix/shim/own_descriptors.hpp"
#include "door/posix/shim/state.hpp"

namespace forebay::posix {

// After an open of `path` from directory `at`, whose result is `fd`. Returns it, or the engine's own in its
// place.
inline int opened(int fd, int at, const char* path, int flags) {
  if (fd < 0 || !active.load(std::memory_order_relaxed)) return fd;
  if (thread.depth != 0) return raise_own(fd);
  if (in_vfork_child()) {
    set_state(fd, State::kPlain);
  } else {
    if (settle(fd, flags, may_lie_in_home(at, path)) >= 0) return fd;
    const int why = errno;
    real.close(fd);
    errno = why;
    return -1;
  }
  return fd;
}

// A descriptor that must be nothing of what its number was before.
inline int made(int fd) {
  if (fd < 0 || !active.load(std::memory_order_relaxed)) return fd;
  if (thread.depth != 0) return raise_own(fd);
  set_state(fd, State::kUnknown);
  return fd;
}

// Before a descriptor is closed or replaced. Negative: the engine's error, which a close has to report. With
// `whole` it may be kClosed (interface.hpp).
long forget(int fd, bool whole = false);

}  // namespace forebay::posix
