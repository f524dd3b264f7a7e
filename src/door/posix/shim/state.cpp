#include "door/posix/shim/state.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "config/raw_variable.hpp"
#include "door/posix/shim/homes.hpp"
#include "door/posix/shim/own_descriptors.hpp"
#include "door/posix/shim/stdio_patch.hpp"

extern "C" __attribute__((visibility("default"))) void forebay_posix_enter(int by);

namespace forebay::posix {

constinit std::atomic<State> states[kDescriptors];
constinit std::atomic<int> known_end = 0;
constinit std::atomic<bool> active = false;
thread_local constinit Thread thread{};
constinit std::atomic<const Engine*> engine = nullptr;
constinit std::atomic<bool> maps_files = false;

namespace {

constinit std::atomic<int> engine_failed = 0;
constinit pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

void set_known(int fd, State state) {
  for (int end = known_end.load(std::memory_order_relaxed);
       end <= fd && !known_end.compare_exchange_weak(end, fd + 1);) {
  }
  states[fd].store(state, std::memory_order_release);
}

void in_child() {
  // What the parent's engine had open is nobody's here.
  loading = PTHREAD_MUTEX_INITIALIZER;
  for (int fd = own_from(); fd < known_end.load(); ++fd) {
    if (states[fd].load(std::memory_order_relaxed) != State::kOurs) continue;
    real.syscall(SYS_close, fd);
    states[fd].store(State::kUnknown, std::memory_order_relaxed);
  }
  own_in_child();
}

void leave() {
  const auto* const there = engine.load();
  if (there == nullptr || thread.depth != 0 || in_vfork_child()) return;
  const Crossing crossing;
  there->leave();
}

const Engine* load_engine() {
  // Before anything is buffered.
  patch_stdio();
  Dl_info self{};
  char path[PATH_MAX];
  if (::dladdr(reinterpret_cast<const void*>(&states), &self) == 0 ||
      strlen(self.dli_fname) + 32 > sizeof path)
    return nullptr;
  strcpy(path, self.dli_fname);
  char* const slash = strrchr(path, '/');
  strcpy(slash == nullptr ? path : slash + 1, "libforebay_posix_engine.so");
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    if (why != nullptr) {
      static constexpr char kWords[] = "forebay: files are not buffered: ";
      [[maybe_unused]] auto n = real.write(STDERR_FILENO, kWords, sizeof kWords - 1);
      n = real.write(STDERR_FILENO, why, strlen(why));
      n = real.write(STDERR_FILENO, "\n", 1);
    }
    return nullptr;
  }
  const auto get = reinterpret_cast<EngineFunction>(::dlsym(library, kEngineFunction));
  if (get == nullptr) return nullptr;
  ::pthread_atfork(nullptr, nullptr, in_child);
  ::at_quick_exit(leave);  // which runs no destructors, and flushes nothing
  return get();
}

// As raw_variable (config/raw_variable.hpp).
const char* first_variable(char* const* environment, const char* name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const char* at = *environment;
    const char* wanted = name;
    while (*wanted != '\0' && *at == *wanted) ++at, ++wanted;
    if (*wanted == '\0' && *at == '=') return at + 1;
  }
  return nullptr;
}

// The kernel's notes on this process follow its environment.
bool has_other_rights(char* const* environment) {
  if (environment == nullptr) return true;
  while (*environment != nullptr) ++environment;
  for (const auto* note = reinterpret_cast<const Elf64_auxv_t*>(environment + 1); note->a_type != AT_NULL;
       ++note) {
    if (note->a_type == AT_SECURE) return note->a_un.a_val != 0;
  }
  return true;
}

#if defined(__x86_64__)
// Its kind, without the C library.
bool is_file(int fd) {
  struct statx found;
  register long flags asm("r10") = STATX_TYPE;
  register void* to asm("r8") = &found;
  long result = SYS_statx;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(static_cast<long>(fd)), "S"(""),
                 "d"(static_cast<long>(AT_EMPTY_PATH | AT_STATX_DONT_SYNC)), "r"(flags), "r"(to)
               : "rcx", "r11", "memory");
  return result == 0 && S_ISREG(found.stx_mode);
}
#else
bool is_file(int) { return true; }
#endif

// Before every other constructor (-z initfirst), also the C library's: `environ` is not there yet. Every
// process of a tree pays for what is done here, and the loader for each of the C library's functions that it
// needs.
__attribute__((constructor)) void start(int, char**, char** environment) {
  if (has_other_rights(environment)) return;
  if (!set_homes(first_variable(environment, "FOREBAY_HOMES"))) return;
  // The C library's own streams may be of buffered files before anybody calls anything.
  for (int fd = 0; fd < 3; ++fd) {
    if (is_file(fd)) {
      patch_stdio();
      break;
    }
  }
  active.store(true, std::memory_order_release);
}

__attribute__((destructor)) void finish() {
  if (engine.load() == nullptr || in_vfork_child()) return;
  flush_streams();
  leave();
}

}  // namespace

bool changed_by_child(int fd) { return fd >= 1024 || (thread.changed[fd / 64] >> (fd % 64) & 1) != 0; }

void set_state(int fd, State state) {
  if (static_cast<unsigned>(fd) >= kDescriptors) return;
  if (in_vfork_child()) {
    if (fd < 1024) thread.changed[fd / 64] |= uint64_t{1} << (fd % 64);
    return;
  }
  set_known(fd, state);
}

namespace {

// A handler's own stack (sigaltstack) has no room for the loader.
bool on_small_stack() {
  stack_t stack;
  return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

}  // namespace

const Engine* need_engine() {
  if (const auto* const there = engine.load(std::memory_order_acquire)) return there;
  if (thread.depth != 0 || in_vfork_child() || engine_failed.load() != 0 || on_small_stack()) return nullptr;
  const Crossing crossing;
  ::pthread_mutex_lock(&loading);
  const auto* there = engine.load();
  if (there == nullptr && engine_failed.load() == 0) {
    there = load_engine();
    if (there == nullptr) {
      engine_failed.store(1);
    } else {
      engine.store(there, std::memory_order_release);
    }
  }
  ::pthread_mutex_unlock(&loading);
  return there;
}

namespace {

bool really_lies_in_home(const char* name) {
  if (lies_in_home(name)) return true;
  find_real_homes();
  return lies_in_home(name);
}

}  // namespace

long settle(int fd, int flags, bool likely) {
  if (fd < 0 || fd >= kDescriptors) return 0;
  // What cannot change is not worth a request to home.
  struct statx found;
  const int before = errno;
  if (real.statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &found) != 0) {
    errno = before;
    return 0;
  }
  const auto device = makedev(found.stx_dev_major, found.stx_dev_minor);
  char name[PATH_MAX];
  if (!S_ISREG(found.stx_mode) || (!likely && !on_home_device(device)) || !name_of(fd, name, sizeof name) ||
      !really_lies_in_home(name)) {
    errno = before;
    if (!in_vfork_child()) set_state(fd, State::kPlain);
    return 0;
  }
  errno = before;
  if (in_vfork_child()) return 0;
  // What is mounted below a home.
  if (likely) note_home_device(device);
  const auto* const there = need_engine();
  long is = 0;
  if (there != nullptr) {
    const Crossing crossing;
    is = there->adopt(fd, flags);
  }
  set_state(fd, is == 1 ? State::kBuffered : is < 0 ? State::kUnknown : State::kPlain);
  if (is < 0) errno = static_cast<int>(-is);
  return is;
}

void note_own(int fd) {
  if (fd >= kDescriptors) return;
  if (state_of(fd) != State::kOurs) own_count.fetch_add(1, std::memory_order_relaxed);
  set_known(fd, State::kOurs);
}

}  // namespace forebay::posix

// For engines of other doors in this process (os/own_io.hpp): what they do to home is not the application's.
void forebay_posix_enter(int by) {
  using forebay::posix::thread;
  thread.depth += by;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (thread.signal_waits != 0 && thread.depth == 0) forebay::posix::let_signal_in();
}

// Of the compiler's start, which this library is linked without, what the C library's at-functions ask for.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the name is the C library's
extern void* __dso_handle __attribute__((visibility("hidden")));
void* __dso_handle = &__dso_handle;
// NOLINTEND(readability-identifier-naming)
}
