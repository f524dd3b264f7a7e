// What the shim knows: which descriptors are buffered, and where a thread is.
//
// A descriptor is Unknown (not seen yet, or closed), Plain, Buffered, or Ours (the engine's own). Unknown is
// always right: the first use looks who it is. Nothing here allocates or takes a lock, and all of it is ready
// before any constructor has run.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include <atomic>

#include "door/posix/interface.hpp"
#include "door/posix/shim/libc.hpp"

namespace forebay::posix {

enum class State : uint8_t { kUnknown, kPlain, kBuffered, kOurs };

inline constexpr int kDescriptors = 65536;  // beyond it nothing is ever buffered
extern constinit std::atomic<State> states[kDescriptors];

// Is there anything to do in this process at all? False until start() has found homes.
extern constinit std::atomic<bool> active;

struct Thread {
  int depth;               // how many calls of the engine this thread is in
  int vforks;              // 1 in the child of a vfork, which has its parent's memory
  int by_number;           // inside of syscall(2)
  int reopening;           // inside of freopen(3)
  int signal_waits;        // one came while it was inside (signals.hpp)
  unsigned interruptions;  // how many came that do not restart calls
  // There: descriptors below 1024 that the child has changed. Its parent's still mean what they did.
  uint64_t changed[16];
};
extern thread_local constinit Thread thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

[[nodiscard]] inline bool in_vfork_child() { return thread.vforks != 0; }

[[nodiscard]] inline State state_of(int fd) {
  if (static_cast<unsigned>(fd) >= kDescriptors) return State::kPlain;
  return states[fd].load(std::memory_order_acquire);
}
// No number from here on was ever known.
extern constinit std::atomic<int> known_end;
// In the child of a vfork only notes that the child's descriptor is another one now.
void set_state(int fd, State state);
[[nodiscard]] bool changed_by_child(int fd);
// It is one of the engine's own (own_descriptors.hpp).
void note_own(int fd);

// The engine, loaded by now or not at all.
extern constinit std::atomic<const Engine*> engine;
// Loads it. Null where it cannot be had, or not here: a signal handler inside the engine, the child of a
// vfork.
const Engine* need_engine();

// An unknown descriptor: who is it? `flags` are those of the open that made it just now, or -1. 1: it is
// buffered. Negative, of one that was just made: it must not be open (errno is set).
long settle(int fd, int flags, bool likely);

// Is a call on `fd` the C library's for sure? What is true for most calls of most programs, and costs them
// all.
[[nodiscard]] inline bool left_alone(int fd) {
  return !active.load(std::memory_order_relaxed) || thread.depth != 0 || state_of(fd) == State::kPlain;
}

// Is `fd` served by the engine? Never inside it.
[[nodiscard]] inline bool buffered(int fd) {
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0) return false;
  const auto state = state_of(fd);
  if (state == State::kPlain) [[likely]]
    return false;
  if (in_vfork_child()) return state == State::kBuffered && !changed_by_child(fd);
  if (state == State::kUnknown) return settle(fd, -1, true) == 1;
  return state == State::kBuffered;
}

// The signal that waited has its handler.
void let_signal_in();

// While it lives, the thread is inside the engine, and what the engine calls goes straight to the C library.
class Crossing {
 public:
  Crossing() : errno_(errno) {
    ++thread.depth;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_);
  }
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;
  ~Crossing() {
    pthread_setcancelstate(cancel_, nullptr);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --thread.depth;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (thread.signal_waits != 0) [[unlikely]]
      let_signal_in();
    errno = errno_;
  }
  // The answer of the engine as that of a C function.
  template <class T = long>
  T answer(long result) {
    if (result >= 0) return static_cast<T>(result);
    errno_ = static_cast<int>(-result);
    return static_cast<T>(-1);
  }

 private:
  int errno_;
  int cancel_ = 0;
};

// `call` (a member of Engine) for a buffered descriptor. True if it was served; else the real call is due.
template <class R, class Member, class... Arguments>
bool served(R& result, Member member, Arguments... arguments) {
  const auto* const there = engine.load(std::memory_order_acquire);
  if (there == nullptr) return false;
  Crossing crossing;
  const long answer = (there->*member)(arguments...);
  if (answer == kPass) return false;
  result = crossing.answer<R>(answer);
  return true;
}

// The same where the real call comes in any case: false if it must not, because this failed (errno is set).
template <class Member, class... Arguments>
bool prepared(Member member, Arguments... arguments) {
  long ignored = 0;
  return !served(ignored, member, arguments...) || ignored >= 0;
}

// Mappings have changed: the engine remembers which of the caller's memory can be touched. To be called
// afterwards, for until then a look finds the memory as it was.
inline void forget_memory() {
  if (const auto* const there = engine.load(std::memory_order_acquire)) there->forget_memory();
}

// The program may have mapped files that the engine knows: it is to be told what is unmapped.
extern constinit std::atomic<bool> maps_files;

}  // namespace forebay::posix
