// Handlers of signals: see signals.hpp.
#include "door/posix/shim/signals.hpp"

#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

using namespace forebay::posix;

namespace {

using Plain = void (*)(int);

constexpr int kSignals = 65;
constexpr uint64_t kOfLibrary = uint64_t{3} << (32 - 1);  // the C library's own two

constexpr uint64_t bit(int number) { return uint64_t{1} << (number - 1); }

// What a thread does to itself, and what it does then.
constexpr uint64_t kCannotWait =
    bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGSYS) | bit(SIGABRT);

constexpr int kKept = SA_SIGINFO | SA_RESETHAND;  // of these flags the kernel is told others

// What the program asked for. Changed without a lock: who sets a handler while its signal comes does not know
// which of the two it meets.
struct Handler {
  std::atomic<Plain> function;
  std::atomic<int> flags;
};
constinit Handler handlers[kSignals];
constinit std::atomic<uint64_t> interrupting = 0;  // siginterrupt(3)

// The signal that waits, and the mask that the kernel had when it came.
struct Waiting {
  siginfo_t info;
  uint64_t mask;
};
thread_local constinit Waiting waiting __attribute__((tls_model("initial-exec"))) = {};

void run(int number, siginfo_t* info, void* context) {
  const auto& handler = handlers[number];
  const auto function = handler.function.load(std::memory_order_acquire);
  const int flags = handler.flags.load(std::memory_order_acquire);
  if ((flags & SA_RESTART) == 0) ++thread.interruptions;
  if ((flags & SA_RESETHAND) != 0) {
    // As the kernel does it: the rest stays as it was.
    struct sigaction now;
    (void)real.sigaction(number, nullptr, &now);
    now.sa_handler = SIG_DFL;
    now.sa_flags = (now.sa_flags & ~SA_SIGINFO) | (flags & kKept);
    (void)real.sigaction(number, &now, nullptr);
  }
  // It may not come back.
  const int by_number = thread.by_number;
  const int reopening = thread.reopening;
  thread.by_number = thread.reopening = 0;
  // One that wants less does not look at the rest.
  struct sigaction one;
  one.sa_handler = function;
  one.sa_sigaction(number, info, context);
  thread.by_number = by_number;
  thread.reopening = reopening;
}

void on_signal(int number, siginfo_t* info, void* context) {
  if (thread.depth == 0 || thread.signal_waits != 0) return run(number, info, context);
  waiting.info = *info;
  auto* const mask = &static_cast<ucontext_t*>(context)->uc_sigmask;
  memcpy(&waiting.mask, mask, sizeof waiting.mask);
  // From here on until the thread leaves.
  const uint64_t all = ~(kCannotWait | kOfLibrary);
  memcpy(mask, &all, sizeof all);
  thread.signal_waits = 1;
}

bool is_function(Plain handler) { return handler != SIG_DFL && handler != SIG_IGN; }

bool is_wrapped(int number) {
  return number > 0 && number < kSignals && ((kCannotWait | kOfLibrary) & bit(number)) == 0;
}

}  // namespace

namespace forebay::posix {

void let_signal_in() {
  if (thread.depth != 0) return;
  Waiting now = waiting;
  thread.signal_waits = 0;
  const long process = real.syscall(SYS_getpid);
  const long self = real.syscall(SYS_gettid);
  if (real.syscall(SYS_rt_tgsigqueueinfo, process, self, now.info.si_signo, &now.info) != 0)
    (void)real.syscall(SYS_tgkill, process, self, now.info.si_signo);
  (void)real.syscall(SYS_rt_sigprocmask, SIG_SETMASK, &now.mask, nullptr, sizeof now.mask);
}

}  // namespace forebay::posix

FOREBAY_CALL int fb_sigaction(int number, const struct sigaction* wanted, struct sigaction* before) {
  // The child of a vfork has handlers of its own, but not this memory.
  if (!active.load(std::memory_order_relaxed) || !is_wrapped(number) || in_vfork_child())
    return real.sigaction(number, wanted, before);
  auto& handler = handlers[number];
  const auto function = handler.function.load();
  const int flags = handler.flags.load();
  if (wanted != nullptr && is_function(wanted->sa_handler)) real.find_for_handlers();
  struct sigaction given;
  const struct sigaction* pass = wanted;
  if (wanted != nullptr && is_function(wanted->sa_handler)) {
    given = *wanted;
    handler.function.store(given.sa_handler);
    handler.flags.store(given.sa_flags);
    given.sa_sigaction = on_signal;
    given.sa_flags = (given.sa_flags | SA_SIGINFO) & ~SA_RESETHAND;
    pass = &given;
  }
  struct sigaction old;
  const int result = real.sigaction(number, pass, &old);
  if (result != 0) {
    handler.function.store(function);
    handler.flags.store(flags);
    return result;
  }
  if (before == nullptr) return 0;
  *before = old;
  if (old.sa_sigaction == on_signal) {
    before->sa_handler = function;
    before->sa_flags = (old.sa_flags & ~kKept) | (flags & kKept);
  }
  return 0;
}

namespace {

Plain set_simply(int number, Plain function, int flags) {
  struct sigaction wanted;
  struct sigaction before;
  memset(&wanted, 0, sizeof wanted);
  wanted.sa_handler = function;
  wanted.sa_flags = flags;
  if ((flags & SA_NODEFER) == 0) sigaddset(&wanted.sa_mask, number);
  return fb_sigaction(number, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

FOREBAY_CALL Plain fb_signal(int number, Plain function) {
  if (function == SIG_ERR || number < 1 || number >= kSignals) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return set_simply(number, function, (interrupting.load() & bit(number)) != 0 ? 0 : SA_RESTART);
}

FOREBAY_CALL Plain fb_sysv_signal(int number, Plain function) {
  if (function == SIG_ERR || number < 1 || number >= kSignals) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return set_simply(number, function, SA_RESETHAND | SA_NODEFER);
}

FOREBAY_CALL int fb_siginterrupt(int number, int interrupts) {
  struct sigaction now;
  if (fb_sigaction(number, nullptr, &now) != 0) return -1;
  if (interrupts != 0) {
    interrupting.fetch_or(bit(number));
    now.sa_flags &= ~SA_RESTART;
  } else {
    interrupting.fetch_and(~bit(number));
    now.sa_flags |= SA_RESTART;
  }
  return fb_sigaction(number, &now, nullptr);
}

FOREBAY_CALL Plain fb_sigset(int number, Plain function) {
  sigset_t one;
  sigset_t before;
  sigemptyset(&one);
  if (function == SIG_ERR || sigaddset(&one, number) != 0) {
    errno = EINVAL;
    return SIG_ERR;
  }
  const bool holds = function == SIG_HOLD;
  struct sigaction old;
  if (::sigprocmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) != 0) return SIG_ERR;
  if (holds) {
    if (fb_sigaction(number, nullptr, &old) != 0) return SIG_ERR;
  } else {
    struct sigaction wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.sa_handler = function;
    if (fb_sigaction(number, &wanted, &old) != 0) return SIG_ERR;
  }
  return sigismember(&before, number) == 1 ? SIG_HOLD : old.sa_handler;
}

FOREBAY_EXPORT(sigaction, fb_sigaction);
FOREBAY_EXPORT(__sigaction, fb_sigaction);
FOREBAY_EXPORT(signal, fb_signal);
FOREBAY_EXPORT(bsd_signal, fb_signal);
FOREBAY_EXPORT(ssignal, fb_signal);
FOREBAY_EXPORT(sysv_signal, fb_sysv_signal);
FOREBAY_EXPORT(__sysv_signal, fb_sysv_signal);
FOREBAY_EXPORT(siginterrupt, fb_siginterrupt);
FOREBAY_EXPORT(sigset, fb_sigset);
