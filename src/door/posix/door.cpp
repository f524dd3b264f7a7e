#include "door/posix/door.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>

#include "base/log.hpp"
#include "config/memory_home.hpp"
#include "door/posix/closing.hpp"
#include "door/posix/past.hpp"
#include "door/posix/user_memory.hpp"
#include "session/session.hpp"

namespace forebay::posix {
namespace {

// Which process could not join, or has left. A child tries for itself.
constinit std::atomic<std::uint32_t> without_buffer = 0;
constinit std::atomic<const char*> stopped = nullptr;
constinit std::atomic<Buffer*> joined = nullptr;
constinit std::atomic<std::uint32_t> joined_by = 0;

// Does a write take bits of its mode away? They are to go with it, not with the drain.
bool writes_change_mode(int fd) {
  struct statx found{};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MODE, &found) != 0) return false;
  const auto mode = found.stx_mode;
  return (mode & S_ISUID) != 0 || (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
}

// Why a file that is chosen is used at home only, from the start. Null: it is not.
const char* why_direct(int fd, int flags) {
  if (const char* const why = stopped.load()) return why;
  if ((flags & O_DIRECT) != 0) return "O_DIRECT";
  if ((flags & O_ACCMODE) != O_RDONLY && writes_change_mode(fd)) return "a program with other rights";
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return "a limit of file sizes";
  return nullptr;
}

// Who a descriptor means: what never changes of it, so that home need not be asked. False: no regular file.
bool identify(int fd, std::uint64_t& device, std::uint64_t& inode) {
  struct statx found{};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &found) != 0) return false;
  device = device_of(makedev(found.stx_dev_major, found.stx_dev_minor));
  inode = found.stx_ino;
  return S_ISREG(found.stx_mode);
}

bool somebody_has(int fd) {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  return identify(fd, device, inode) && matters(device, inode) != 0;
}

// It reads and writes nothing, but keeps a file that has lost its name, with what is unsaved of it.
Pin hold(Buffer& engine, int fd, int has) {
  const auto file = engine.open("/proc/self/fd/" + std::to_string(fd), O_RDONLY);
  return file ? Pin(new Open{*file, has, fork_generation()}) : Pin();
}

// The part of open() that is the engine's. Nothing: the file is none of ours. A failure: it is, but there is
// no room for it.
Result<Pin> open_in_buffer(int fd, int flags) {
  auto* const engine = buffer();
  if (engine == nullptr) return Pin();
  const int has = ::fcntl(fd, F_GETFL);
  if (has < 0) return Pin();
  const auto path = name_of(fd);
  const auto& settings = engine->core().settings;
  const auto wanted_here = settings.for_path(path);
  const bool chosen = !settings.choice.homes.empty() &&
                      settings.choice.of_name(path) == FileVerdict::Chosen &&
                      wanted_here.mode != Mode::Bypass;
  const bool memory = chosen && memory_would_do(wanted_here) &&
                      engine->core().home_stamps.file_system(fd) == FileSystem::kMemory;
  // Who has it buffered must be seen, though it has another name by now, or none.
  if ((!chosen || memory) && !somebody_has(fd)) {
    if (memory) note("home is memory already");
    return Pin();
  }
  if ((has & O_PATH) != 0) return hold(*engine, fd, has);
  const int truncates = flags >= 0 ? flags & O_TRUNC : 0;
  if (flags >= 0 && truncates == 0 && changed_past_us(*engine, fd)) {
    log_info("{} was changed at home, past the buffer", path);
    note("a file was changed past the buffer, by a program that is not seen or another node");
  }
  const auto look = flags >= 0 ? Look::kJustOpened : Look::kAsk;
  const auto file =
      engine->open_descriptor(fd, (has & O_ACCMODE) | truncates, look, [&](FileSettings& wanted) {
        if ((has & (O_SYNC | O_DSYNC)) != 0 && wanted.mode == Mode::Async)
          wanted.durability = Durability::Home;
      });
  if (!file) {
    log_warn("{} is not buffered: {}", path, file.error().message);
    note("the buffer could not take a file");
    if (somebody_has(fd)) return std::unexpected(file.error());
    return Pin();
  }
  (*file)->keep_times();
  // Linux truncates also what is opened for reading.
  if (truncates != 0 && (has & O_ACCMODE) == O_RDONLY) {
    if (const auto again = engine->open("/proc/self/fd/" + std::to_string(fd), O_RDWR | O_TRUNC))
      (void)(*again)->close();
  }
  if (const char* const why = why_direct(fd, has)) {
    note(why);
    if (const auto status = (*file)->go_direct(); !status) log_warn("{}", status.error().message);
  }
  return Pin(new Open{*file, has, fork_generation()});
}

}  // namespace

std::string name_of(int fd) {
  char name[PATH_MAX];
  const auto n = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name, sizeof name);
  return n > 0 ? std::string(name, static_cast<std::size_t>(n)) : std::string();
}

Buffer* joined_buffer() {
  return joined_by.load(std::memory_order_acquire) == fork_generation() ? joined.load() : nullptr;
}

Buffer* buffer() {
  if (auto* const there = joined_buffer()) return there;
  if (without_buffer.load() == fork_generation()) return nullptr;
  const auto made = join({});
  if (!made) {
    without_buffer.store(fork_generation());
    log_warn("files are not buffered: {}", made.error().message);
    return nullptr;
  }
  joined.store(*made);
  joined_by.store(fork_generation(), std::memory_order_release);
  return *made;
}

Pin known(int fd) {
  auto open = descriptor(fd);
  if (!open || open->process == fork_generation()) return open;
  // A parent's: this process opens it for itself.
  auto own = open_in_buffer(fd, -1).value_or(Pin());
  (void)set_descriptor(fd, own ? own.again() : Pin());
  return own;
}

Pin served(int fd) {
  auto open = known(fd);
  if (!open || open->file->direct()) return {};
  return open;
}

long answer(const Status& status) {
  if (status) return 0;
  // After leaving, and where the buffer is lost, the file itself is what there is.
  return status.error().code == ENOTCONN ? kPass : -status.error().code;
}

void note(const char* why) {
  if (why == nullptr) return;
  if (auto* const there = joined_buffer()) there->note_passed(std::string("POSIX: ") + why);
}

namespace {

// What an open may say by itself.
bool no_room(int code) { return code == EMFILE || code == ENFILE || code == ENOMEM || code == ENAMETOOLONG; }

}  // namespace

long adopt(int fd, int flags) {
  auto open = open_in_buffer(fd, flags);
  if (!open) return flags >= 0 && no_room(open.error().code) ? -open.error().code : 0;
  if (!*open) return 0;
  (void)set_descriptor(fd, std::move(*open));
  return 1;
}

long close(int fd, int whole) {
  if (whole == 0) {
    const auto result = answer(set_descriptor(fd, Pin()));
    return result == kPass ? 0 : result;
  }
  const auto closed = close_descriptor(fd);
  if (closed) return *closed;
  const auto result = answer(std::unexpected(closed.error()));
  return result == kPass ? 0 : result;
}

void duplicate(int from, int to) {
  if (auto open = descriptor(from)) (void)set_descriptor(to, std::move(open));
}

namespace {

// The open file that a child or another program would get as `fd`. The child of a vfork has its parent's
// memory and descriptors of its own: the kernel says who is meant.
Pin handed_on(int fd) {
  if (joined_buffer() == nullptr && !descriptor(fd)) return {};
  const int has = ::fcntl(fd, F_GETFD);
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t number = 0;
  if (has < 0 || (has & FD_CLOEXEC) != 0 || !identify(fd, device, inode) ||
      record_of(device, inode, &number) == nullptr)
    return {};
  auto open = known(fd);
  return open && open->file->number() == number ? std::move(open) : open_here(number);
}

// A program that is not seen may write there at any time, and append.
void hand_on_direct() {
  for (int fd = 0; fd < std::max(descriptor_end(), STDERR_FILENO + 1); ++fd) {
    const auto open = handed_on(fd);
    if (!open || open->file->direct()) continue;
    note("an open file was handed to a program that is not seen");
    (void)open->file->go_direct();
  }
}

// What goes with its last user has none in the buffer from here on, until the next program first uses it.
// What a parent has open, it goes on having.
void bring_home_what_has_no_name(Buffer& there) {
  for (int fd = 0; fd < descriptor_end(); ++fd) {
    const auto open = descriptor(fd);
    if (!open || open->process != fork_generation() || (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0) continue;
    if (is_scratch(there.core().control.file(open->file->number())) && open->file->unsaved())
      (void)open->file->drain_all();
  }
}

}  // namespace

long drain_everything(int inherited) {
  if (inherited != 0) hand_on_direct();
  auto* const there = joined_buffer();
  if (there == nullptr) return 0;
  bring_home_what_has_no_name(*there);
  const auto result = answer(there->drain());
  return result == kPass ? 0 : result;
}

void stop_buffering(const char* why) {
  stopped.store(why);
  wait_for_closes();
  for (int fd = 0; fd < descriptor_end(); ++fd) {
    if (const auto open = known(fd); open && !open->file->direct()) {
      note(why);
      (void)open->file->go_direct();
    }
  }
}

void leave() {
  if (joined_buffer() == nullptr) return;
  without_buffer.store(fork_generation());
  joined_by.store(0);
  wait_for_closes();
  (void)leave_all();
}

}  // namespace forebay::posix

namespace {
using namespace forebay::posix;

// A failure to allocate must not run through the application's frames.
template <auto function>
struct Guarded;
template <class R, class... A, R (*function)(A...)>
struct Guarded<function> {
  static R call(A... arguments) {
    try {
      return function(arguments...);
    } catch (...) {
      if constexpr (!std::is_void_v<R>) return -ENOMEM;
    }
  }
};

constexpr Engine kEngine{.adopt = Guarded<adopt>::call,
                         .close = Guarded<forebay::posix::close>::call,
                         .duplicate = Guarded<duplicate>::call,
                         .read = Guarded<forebay::posix::read>::call,
                         .write = Guarded<forebay::posix::write>::call,
                         .seek = Guarded<seek>::call,
                         .truncate = Guarded<forebay::posix::truncate>::call,
                         .truncates_at_home = Guarded<truncates_at_home>::call,
                         .truncated = Guarded<truncated>::call,
                         .sync = Guarded<forebay::posix::sync>::call,
                         .drain = Guarded<drain>::call,
                         .go_direct = Guarded<go_direct>::call,
                         .changed_at_home = Guarded<changed_at_home>::call,
                         .locked = Guarded<locked>::call,
                         .advise = Guarded<advise>::call,
                         .times = Guarded<forebay::posix::times>::call,
                         .fix_stat = Guarded<fix_stat>::call,
                         .status_changed = Guarded<status_changed>::call,
                         .drain_inode = Guarded<drain_inode>::call,
                         .losing_name = Guarded<losing_name>::call,
                         .matters = Guarded<matters>::call,
                         .unlinked = Guarded<unlinked>::call,
                         .renamed = Guarded<renamed>::call,
                         .drain_below = Guarded<drain_below>::call,
                         .renamed_below = Guarded<renamed_below>::call,
                         .mapped = Guarded<mapped>::call,
                         .moved = Guarded<moved>::call,
                         .drain_everything = Guarded<drain_everything>::call,
                         .stop_buffering = Guarded<stop_buffering>::call,
                         .forget_memory = forget_memory,
                         .leave = Guarded<leave>::call};
}  // namespace

extern "C" __attribute__((visibility("default"))) const forebay::posix::Engine* forebay_posix_engine() {
  return &kEngine;
}
