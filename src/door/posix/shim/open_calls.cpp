// Everything that makes a descriptor of a file out of a name.
#include <stdarg.h>
#include <string.h>

#include "door/posix/shim/opened.hpp"

using namespace forebay::posix;

namespace {

// The mode is there only where the flags say so.
mode_t mode_of(int flags, va_list more) {
  const bool there = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return there ? va_arg(more, mode_t) : 0;
}

bool by_engine() { return thread.depth != 0 && active.load(std::memory_order_relaxed); }

}  // namespace

FOREBAY_CALL int fb_open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = mode_of(flags, more);
  va_end(more);
  if (by_engine()) return raise_own(open_own(AT_FDCWD, path, flags, mode));
  return opened(real.open(path, flags, mode), AT_FDCWD, path, flags);
}

FOREBAY_CALL int fb_openat(int at, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = mode_of(flags, more);
  va_end(more);
  if (by_engine()) return raise_own(open_own(at, path, flags, mode));
  return opened(real.openat(at, path, flags, mode), at, path, flags);
}

FOREBAY_CALL int fb_open_2(const char* path, int flags) {
  return opened(real.open(path, flags), AT_FDCWD, path, flags);
}

FOREBAY_CALL int fb_openat_2(int at, const char* path, int flags) {
  return opened(real.openat(at, path, flags), at, path, flags);
}

FOREBAY_CALL int fb_creat(const char* path, mode_t mode) {
  return opened(real.creat(path, mode), AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC);
}

FOREBAY_CALL int fb_open_by_handle_at(int mount, file_handle* handle, int flags) {
  return made(real.open_by_handle_at(mount, handle, flags));
}

FOREBAY_CALL int fb_mkostemps(char* name, int suffix, int flags) {
  return opened(real.mkostemps(name, suffix, flags), AT_FDCWD, name, O_RDWR | O_CREAT | O_EXCL);
}
FOREBAY_CALL int fb_mkstemp(char* name) { return fb_mkostemps(name, 0, 0); }
FOREBAY_CALL int fb_mkostemp(char* name, int flags) { return fb_mkostemps(name, 0, flags); }
FOREBAY_CALL int fb_mkstemps(char* name, int suffix) { return fb_mkostemps(name, suffix, 0); }

FOREBAY_EXPORT(open, fb_open);
FOREBAY_EXPORT(open64, fb_open);
FOREBAY_EXPORT(__open, fb_open);
FOREBAY_EXPORT(__open64, fb_open);
FOREBAY_EXPORT(__open_2, fb_open_2);
FOREBAY_EXPORT(__open64_2, fb_open_2);
FOREBAY_EXPORT(openat, fb_openat);
FOREBAY_EXPORT(openat64, fb_openat);
FOREBAY_EXPORT(__openat_2, fb_openat_2);
FOREBAY_EXPORT(__openat64_2, fb_openat_2);
FOREBAY_EXPORT(creat, fb_creat);
FOREBAY_EXPORT(creat64, fb_creat);
FOREBAY_EXPORT(open_by_handle_at, fb_open_by_handle_at);
FOREBAY_EXPORT(mkstemp, fb_mkstemp);
FOREBAY_EXPORT(mkstemp64, fb_mkstemp);
FOREBAY_EXPORT(mkostemp, fb_mkostemp);
FOREBAY_EXPORT(mkostemp64, fb_mkostemp);
FOREBAY_EXPORT(mkstemps, fb_mkstemps);
FOREBAY_EXPORT(mkstemps64, fb_mkstemps);
FOREBAY_EXPORT(mkostemps, fb_mkostemps);
FOREBAY_EXPORT(mkostemps64, fb_mkostemps);
