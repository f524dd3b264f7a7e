// Ways to files that go around every call: io_uring, and the kernel's own asynchronous I/O through libaio. A
// process that makes a ring uses all its files at home.
#include <dlfcn.h>

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

struct IoControl {  // as the kernel's struct iocb
  uint64_t data;
  uint32_t key;
  uint32_t rw_flags;
  uint16_t opcode;
  int16_t priority;
  int32_t fd;
};

}  // namespace

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

FOREBAY_CALL int fb_io_submit(void* context, long count, IoControl** controls) {
  for (long i = 0; controls != nullptr && i < count; ++i) {
    if (controls[i] != nullptr && buffered(controls[i]->fd) &&
        !prepared(&Engine::go_direct, controls[i]->fd, "libaio"))
      return -errno;
  }
  const auto real_one = behind<int (*)(void*, long, IoControl**)>("io_submit", "libaio.so.1");
  return real_one != nullptr ? real_one(context, count, controls) : -ENOSYS;
}

FOREBAY_EXPORT(io_uring_queue_init, fb_io_uring_queue_init);
FOREBAY_EXPORT(io_uring_queue_init_params, fb_io_uring_queue_init_params);
FOREBAY_EXPORT(io_uring_queue_init_mem, fb_io_uring_queue_init_mem);
FOREBAY_EXPORT(io_uring_setup, fb_io_uring_setup);
FOREBAY_EXPORT(io_submit, fb_io_submit);
