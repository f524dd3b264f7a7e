// Calls that take memory away: the engine remembers which of the caller's memory can be touched.
#include <stdarg.h>

#include "door/posix/shim/state.hpp"

using namespace forebay::posix;

FOREBAY_CALL int fb_munmap(void* at, size_t length) {
  const int result = real.munmap(at, length);
  forget_memory();
  return result;
}

FOREBAY_CALL int fb_mprotect(void* at, size_t length, int protection) {
  const int result = real.mprotect(at, length, protection);
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
  return result;
}

FOREBAY_EXPORT(munmap, fb_munmap);
FOREBAY_EXPORT(mprotect, fb_mprotect);
FOREBAY_EXPORT(mremap, fb_mremap);
