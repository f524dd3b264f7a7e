// Ways to files that go around every call: io_uring, and the kernel's own asynchronous I/O through libaio;
// and ways to see what is done to them. A process that makes a ring, or watches a home, uses all its files at
// home.
#include <dlfcn.h>

#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/opened.hpp"

using namespace forebay::posix;

namespace forebay::posix {

void stop_buffering(const char* why) {
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0 || in_vfork_child()) return;
  if (const auto* const there = need_engine()) {
    const Crossing crossing;
    there->stop_buffering(why);
  }
}

void stop_buffering_if_loaded(const char* why) {
  if (engine.load(std::memory_order_acquire) != nullptr) stop_buffering(why);
}

}  // namespace forebay::posix

namespace {

// These functions are in libraries that need not be there: looked for when they are called. Whoever loaded
// one for itself, as our engine and modules of Python do, has it in a scope of its own.
template <class Function>
Function behind(const char* name, const char* library = "liburing.so.2") {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded != nullptr) found = ::dlsym(loaded, name);
  }
  return reinterpret_cast<Function>(found);
}

bool watches_home(int at, const char* path) {
  Names file;
  return look_at(at, path, true, &file) != Kind::kNone;
}

struct IoControl {  // as the kernel's struct iocb
  uint64_t data;
  uint32_t key;
  uint32_t rw_flags;
  uint16_t opcode;
  int16_t priority;
  int32_t fd;
};

}  // namespace

bool forebay::posix::before_submitting(long count, void* controls) {
  auto** const all = static_cast<IoControl**>(controls);
  if (!active.load(std::memory_order_relaxed) || count <= 0 ||
      !is_readable(all, static_cast<size_t>(count) * sizeof *all))
    return true;
  for (long i = 0; i < count; ++i) {
    if (is_readable(all[i], sizeof *all[i]) && buffered(all[i]->fd) &&
        !prepared(&Engine::go_direct, all[i]->fd, "libaio"))
      return false;
  }
  return true;
}

FOREBAY_CALL int fb_io_uring_queue_init(unsigned entries, void* ring, unsigned flags) {
  stop_buffering("io_uring");
  const auto real_one = behind<int (*)(unsigned, void*, unsigned)>("io_uring_queue_init");
  return real_one != nullptr ? real_one(entries, ring, flags) : -ENOSYS;
}
FOREBAY_CALL int fb_io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) {
  stop_buffering("io_uring");
  const auto real_one = behind<int (*)(unsigned, void*, void*)>("io_uring_queue_init_params");
  return real_one != nullptr ? real_one(entries, ring, parameters) : -ENOSYS;
}
FOREBAY_CALL int fb_io_uring_queue_init_mem(unsigned entries, void* ring, void* parameters, void* memory,
                                            size_t size) {
  stop_buffering("io_uring");
  const auto real_one = behind<int (*)(unsigned, void*, void*, void*, size_t)>("io_uring_queue_init_mem");
  return real_one != nullptr ? real_one(entries, ring, parameters, memory, size) : -ENOSYS;
}
FOREBAY_CALL int fb_io_uring_setup(unsigned entries, void* parameters) {
  stop_buffering("io_uring");
  const auto real_one = behind<int (*)(unsigned, void*)>("io_uring_setup");
  return real_one != nullptr ? real_one(entries, parameters) : -ENOSYS;
}

FOREBAY_CALL int fb_io_submit(void* context, long count, void* controls) {
  if (!before_submitting(count, controls)) return -errno;
  const auto real_one = behind<int (*)(void*, long, void*)>("io_submit", "libaio.so.1");
  return real_one != nullptr ? real_one(context, count, controls) : -ENOSYS;
}

// Who watches a file wants to know of each write when it is made, and of nobody else's. What a drain does is
// over before the watch begins.
FOREBAY_CALL int fb_inotify_add_watch(int fd, const char* path, uint32_t mask) {
  constexpr uint32_t kBytes = IN_ACCESS | IN_MODIFY | IN_ATTRIB | IN_OPEN | IN_CLOSE;
  if ((mask & kBytes) != 0 && engine_before(AT_FDCWD, path) != nullptr && watches_home(AT_FDCWD, path))
    stop_buffering("inotify");
  return real.inotify_add_watch(fd, path, mask);
}
FOREBAY_CALL int fb_fanotify_mark(int fd, unsigned flags, uint64_t mask, int at, const char* path) {
  if (path == nullptr || (engine_before(at, path) != nullptr && watches_home(at, path)))
    stop_buffering_if_loaded("fanotify");
  return real.fanotify_mark(fd, flags, mask, at, path);
}

FOREBAY_EXPORT(inotify_add_watch, fb_inotify_add_watch);
FOREBAY_EXPORT(fanotify_mark, fb_fanotify_mark);
FOREBAY_EXPORT(io_uring_queue_init, fb_io_uring_queue_init);
FOREBAY_EXPORT(io_uring_queue_init_params, fb_io_uring_queue_init_params);
FOREBAY_EXPORT(io_uring_queue_init_mem, fb_io_uring_queue_init_mem);
FOREBAY_EXPORT(io_uring_setup, fb_io_uring_setup);
FOREBAY_EXPORT(io_submit, fb_io_submit);
