// Calls that give, move and take memory: the engine remembers which of the caller's can be touched, and which
// of its files are mapped.
#include <stdarg.h>
#include <sys/shm.h>

#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/opened.hpp"

using namespace forebay::posix;

namespace {

bool asks_engine() {
  return maps_files.load(std::memory_order_relaxed) && thread.depth == 0 && !in_vfork_child();
}

// What was there is elsewhere now, or nowhere.
void moved(void* at, size_t length, void* to, size_t wanted) {
  if (!asks_engine()) return;
  const Crossing crossing;
  engine.load()->moved(at, length, to, wanted);
}

}  // namespace

FOREBAY_CALL void* fb_mmap(void* at, size_t length, int protection, int flags, int fd, off_t offset) {
  const bool of_buffered = (flags & MAP_ANONYMOUS) == 0 && buffered(fd);
  if (of_buffered && !prepared(&Engine::go_direct, fd, "mmap")) return MAP_FAILED;
  void* const result = real.mmap(at, length, protection, flags, fd, offset);
  if (result == MAP_FAILED) return result;
  if ((flags & MAP_FIXED) != 0) {
    forget_memory();
    moved(at, length, nullptr, 0);
  }
  if (of_buffered) {
    maps_files.store(true, std::memory_order_relaxed);
    const Crossing crossing;
    engine.load()->mapped(fd, result, length);
  }
  return result;
}

FOREBAY_CALL int fb_munmap(void* at, size_t length) {
  const int result = real.munmap(at, length);
  forget_memory();
  if (result == 0) moved(at, length, nullptr, 0);
  return result;
}

FOREBAY_CALL int fb_mprotect(void* at, size_t length, int protection) {
  const int result = real.mprotect(at, length, protection);
  forget_memory();
  return result;
}

FOREBAY_CALL int fb_pkey_mprotect(void* at, size_t length, int protection, int key) {
  const int result = real.pkey_mprotect(at, length, protection, key);
  forget_memory();
  return result;
}

FOREBAY_CALL int fb_shmdt(const void* at) {
  const int result = real.shmdt(at);
  forget_memory();
  return result;
}

FOREBAY_CALL void* fb_mremap(void* at, size_t length, size_t wanted, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void* const place = va_arg(more, void*);
  va_end(more);
  void* const result = real.mremap(at, length, wanted, flags, place);
  forget_memory();
  if (result == MAP_FAILED) return result;
  if ((flags & MREMAP_FIXED) != 0) moved(result, wanted, nullptr, 0);
  moved(at, length, result, wanted);
  return result;
}

FOREBAY_EXPORT(mmap, fb_mmap);
FOREBAY_EXPORT(mmap64, fb_mmap);
FOREBAY_EXPORT(munmap, fb_munmap);
FOREBAY_EXPORT(mprotect, fb_mprotect);
FOREBAY_EXPORT(mremap, fb_mremap);
FOREBAY_EXPORT(pkey_mprotect, fb_pkey_mprotect);
FOREBAY_EXPORT(shmdt, fb_shmdt);
