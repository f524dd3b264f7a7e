// Closing, duplicating and controlling descriptors.
#include <dirent.h>
#include <linux/close_range.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/opened.hpp"
#include "door/posix/shim/signals.hpp"
#include "door/posix/shim/user_text.hpp"

using namespace forebay::posix;

namespace forebay::posix {

long forget(int fd, bool whole) {
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0) return 0;
  const auto state = state_of(fd);
  if (in_vfork_child()) {
    set_state(fd, State::kUnknown);
    return 0;
  }
  if (state == State::kUnknown) return 0;
  set_state(fd, State::kUnknown);
  const auto* const there = engine.load(std::memory_order_acquire);
  if (state != State::kBuffered || there == nullptr) return 0;
  const Crossing crossing;
  return there->close(fd, whole ? 1 : 0);
}

}  // namespace forebay::posix

namespace {

// The application cannot mean one of ours: it has not opened it.
bool is_ours(int fd) {
  return active.load(std::memory_order_relaxed) && thread.depth == 0 && state_of(fd) == State::kOurs;
}

int not_there() {
  errno = EBADF;
  return -1;
}

int duplicated(int from, int to) {
  if (to < 0 || !active.load(std::memory_order_relaxed)) return to;
  if (thread.depth != 0) return raise_own(to);
  if (in_vfork_child() || state_of(from) != State::kBuffered) {
    set_state(to, State::kUnknown);
    return to;
  }
  if (to >= kDescriptors) {
    // Nothing can be served there: everybody goes to the file itself.
    (void)prepared(&Engine::go_direct, from, "a descriptor beyond 65536");
    return to;
  }
  const Crossing crossing;
  engine.load()->duplicate(from, to);
  set_state(to, State::kBuffered);
  return to;
}

// Nobody gets a lease on a file that somebody may write. A thread of ours that has just carried it home may
// have it open for a few instructions more, which take long on a busy machine.
int leased(int fd, void* argument) {
  int result = static_cast<int>(real.fcntl(fd, F_SETLEASE, argument));
  for (int turn = 0; result != 0 && errno == EAGAIN && turn < 100; ++turn) {
    const timespec moment{0, 200'000};
    real.syscall(SYS_nanosleep, &moment, nullptr);
    result = static_cast<int>(real.fcntl(fd, F_SETLEASE, argument));
  }
  return result;
}

}  // namespace

FOREBAY_CALL int fb_close(int fd) {
  if (active.load(std::memory_order_relaxed) && static_cast<unsigned>(fd) < kDescriptors) {
    if (thread.depth != 0) {
      auto ours = State::kOurs;
      if (states[fd].compare_exchange_strong(ours, State::kUnknown))
        own_count.fetch_sub(1, std::memory_order_relaxed);
    } else if (state_of(fd) == State::kOurs) {
      return not_there();
    } else if (const long result = forget(fd, true); result >= kClosed) {
      if (result == kClosed) return 0;
      errno = static_cast<int>(result - kClosed);
      return -1;
    } else if (result < 0) {
      real.close(fd);
      errno = static_cast<int>(-result);
      return -1;
    }
  }
  return real.close(fd);
}

FOREBAY_CALL int fb_close_range(unsigned first, unsigned last, int flags) {
  if (!active.load(std::memory_order_relaxed) || first > last || (flags & CLOSE_RANGE_CLOEXEC) != 0)
    return real.close_range(first, last, flags);
  int result = 0;
  unsigned begin = first;
  const auto end = static_cast<unsigned>(known_end.load());
  for (unsigned fd = first; fd <= last && fd < end; ++fd) {
    const auto state = states[fd].load(std::memory_order_acquire);
    if (state == State::kUnknown && !in_vfork_child()) continue;
    if (state != State::kOurs) {
      (void)forget(static_cast<int>(fd));
      continue;
    }
    if (fd > begin && real.close_range(begin, fd - 1, flags) != 0) result = -1;
    begin = fd + 1;
  }
  if (begin <= last && real.close_range(begin, last, flags) != 0) result = -1;
  return result;
}

FOREBAY_CALL void fb_closefrom(int first) {
  (void)fb_close_range(first < 0 ? 0U : static_cast<unsigned>(first), ~0U, 0);
}

FOREBAY_CALL int fb_dup(int fd) {
  if (is_ours(fd)) return not_there();
  (void)buffered(fd);
  return duplicated(fd, real.dup(fd));
}

FOREBAY_CALL int fb_dup3(int from, int to, int flags) {
  if (is_ours(from) || is_ours(to)) return not_there();
  (void)buffered(from);
  // What the number meant is closed by the kernel without a word: so is an error of ours.
  if (from != to && from >= 0 && active.load(std::memory_order_relaxed) && state_of(to) == State::kBuffered &&
      real.fcntl(from, F_GETFD) >= 0)
    (void)forget(to);
  return duplicated(from, real.dup3(from, to, flags));
}

FOREBAY_CALL int fb_dup2(int from, int to) {
  if (from == to) return real.dup2(from, to);
  return fb_dup3(from, to, 0);
}

FOREBAY_CALL int fb_fcntl(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  const auto number = static_cast<int>(reinterpret_cast<intptr_t>(argument));
  if (is_ours(fd)) return not_there();
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      (void)buffered(fd);
      // To raise it later would close a descriptor, of which some file systems tell home.
      if (thread.depth != 0 && active.load(std::memory_order_relaxed))
        return duplicated(fd, duplicate_own(fd, number));
      return duplicated(fd, static_cast<int>(real.fcntl(fd, command, number)));
    case F_SETFL:
      // These are the open file's, which others may have too, and our own duplicate is one of them.
      if (buffered(fd)) {
        const int changed = static_cast<int>(real.fcntl(fd, F_GETFL)) ^ number;
        if ((changed & O_APPEND) != 0 && !prepared(&Engine::go_direct, fd, "O_APPEND set by fcntl"))
          return -1;
        if ((number & O_DIRECT) != 0 && !prepared(&Engine::go_direct, fd, "O_DIRECT")) return -1;
      }
      break;
    case F_SETLK:
    case F_OFD_SETLK:
      // Whoever locks parts of a file wants to see what others write between two locks, wherever they are.
      if (buffered(fd) && !prepared(&Engine::go_direct, fd, "record locks")) return -1;
      break;
    case F_SETLEASE:
      if (!buffered(fd)) break;
      if (!prepared(&Engine::go_direct, fd, "record locks")) return -1;
      return leased(fd, argument);
    case F_SETLKW:
    case F_OFD_SETLKW: {
      const Interruption interruption;
      if (buffered(fd) && !prepared(&Engine::go_direct, fd, "record locks")) return -1;
      if (!interruption.came()) break;
      const int result =
          static_cast<int>(real.fcntl(fd, command == F_SETLKW ? F_SETLK : F_OFD_SETLK, argument));
      if (result != 0 && (errno == EAGAIN || errno == EACCES)) errno = EINTR;
      return result;
    }
    default:
      break;
  }
  return real.fcntl(fd, command, argument);
}

FOREBAY_CALL int fb_flock(int fd, int operation) {
  const Interruption interruption;
  if (!buffered(fd)) return real.flock(fd, operation);
  const bool unlocks = (operation & LOCK_UN) != 0;
  if (unlocks && !prepared(&Engine::drain, fd, static_cast<const char*>(nullptr))) return -1;
  const bool late = !unlocks && (operation & LOCK_NB) == 0 && interruption.came();
  const int result = real.flock(fd, late ? operation | LOCK_NB : operation);
  if (late && result != 0 && errno == EWOULDBLOCK) errno = EINTR;
  if (result == 0 && !unlocks) {
    (void)prepared(&Engine::changed_at_home, fd, 0);
    const Crossing crossing;
    engine.load()->locked(fd);
  }
  return result;
}

FOREBAY_CALL int fb_lockf(int fd, int command, off_t length) {
  const Interruption interruption;
  if (buffered(fd) && !prepared(&Engine::go_direct, fd, "record locks")) return -1;
  if (command != F_LOCK || !interruption.came()) return real.lockf(fd, command, length);
  const int result = real.lockf(fd, F_TLOCK, length);
  if (result != 0 && (errno == EAGAIN || errno == EACCES)) errno = EINTR;
  return result;
}

namespace {

constexpr unsigned long kTcgets2 = 0x802c542a;  // its structure is in a header that no other goes with

// Those that every stream and every interpreter asks of each descriptor, and that reach no byte.
bool is_harmless(unsigned long request) {
  return request == TCGETS || request == FIOCLEX || request == FIONCLEX || request == FIONBIO ||
         request == FIOASYNC || request == TIOCGWINSZ || request == kTcgets2 || request == FS_IOC_GETFLAGS;
}

// The file that a reflink is made from.
int source_of(unsigned long request, void* argument) {
  if (request == FICLONE) return static_cast<int>(reinterpret_cast<intptr_t>(argument));
  if (request == FICLONERANGE && is_readable(argument, sizeof(file_clone_range)))
    return static_cast<int>(static_cast<file_clone_range*>(argument)->src_fd);
  return -1;
}

}  // namespace

FOREBAY_CALL int fb_ioctl(int fd, unsigned long request, ...) {
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  if (!active.load(std::memory_order_relaxed) || is_harmless(request))
    return real.ioctl(fd, request, argument);
  if (const int from = source_of(request, argument); from >= 0 && buffered(from))
    (void)prepared(&Engine::drain, from, "reflink");
  if (!buffered(fd)) return real.ioctl(fd, request, argument);
  const bool looks = request == FS_IOC_FIEMAP || request == FIONREAD;
  const char* const why = request == FS_IOC_FIEMAP ? "FIEMAP" : "reflinks and other ioctls";
  if (!prepared(&Engine::drain, fd, request == FIONREAD ? nullptr : why)) return -1;
  const int result = real.ioctl(fd, request, argument);
  if (result == 0 && !looks) (void)prepared(&Engine::changed_at_home, fd, 1);
  return result;
}

// Written by the C library, without a call that could be seen.
FOREBAY_CALL void fb_backtrace_symbols_fd(void* const* frames, int count, int fd) {
  const bool served_here = buffered(fd) && prepared(&Engine::drain, fd, static_cast<const char*>(nullptr));
  real.backtrace_symbols_fd(frames, count, fd);
  if (served_here) (void)prepared(&Engine::changed_at_home, fd, 1);
}

// It closes its folder's descriptor by itself.
FOREBAY_CALL int fb_closedir(DIR* folder) {
  if (folder != nullptr && active.load(std::memory_order_relaxed) && thread.depth == 0)
    (void)forget(::dirfd(folder));
  return real.closedir(folder);
}

FOREBAY_EXPORT(close, fb_close);
FOREBAY_EXPORT(__close, fb_close);
FOREBAY_EXPORT(close_range, fb_close_range);
FOREBAY_EXPORT(closefrom, fb_closefrom);
FOREBAY_EXPORT(dup, fb_dup);
FOREBAY_EXPORT(dup2, fb_dup2);
FOREBAY_EXPORT(__dup2, fb_dup2);
FOREBAY_EXPORT(dup3, fb_dup3);
FOREBAY_EXPORT(fcntl, fb_fcntl);
FOREBAY_EXPORT(fcntl64, fb_fcntl);
FOREBAY_EXPORT(__fcntl, fb_fcntl);
FOREBAY_EXPORT(flock, fb_flock);
FOREBAY_EXPORT(lockf, fb_lockf);
FOREBAY_EXPORT(lockf64, fb_lockf);
FOREBAY_EXPORT(ioctl, fb_ioctl);
FOREBAY_EXPORT(backtrace_symbols_fd, fb_backtrace_symbols_fd);
FOREBAY_EXPORT(closedir, fb_closedir);
