// Names and times of files. What is unsaved of a file is home before its name changes, so that whoever takes
// over after a death finds it; what lost its last name goes nowhere any more.
#include <limits.h>
#include <string.h>
#include <sys/time.h>

#include "door/posix/shim/by_name.hpp"

using namespace forebay::posix;

namespace {

// Before the kernel has seen the name.
const Engine* engine_before(int at, const char* path) {
  return active.load(std::memory_order_relaxed) && is_text(path) ? engine_for(at, path) : nullptr;
}

bool drained(const Engine* there, const Names& file) {
  Crossing crossing;
  const long failed = there->drain_inode(file.device, file.inode);
  return failed >= 0 || crossing.answer<int>(failed) >= 0;
}

bool matters(const Engine* there, const Names& file) {
  const Crossing crossing;
  return there->matters(file.device, file.inode) == 1;
}

void tell_unlinked(const Engine* there, const Names& file) {
  const Crossing crossing;
  there->unlinked(&file);
}

template <class Call>
int unlinking(int at, const char* path, Call call) {
  Names file;
  const auto* const there = engine_before(at, path);
  const bool known = there != nullptr && look_at(at, path, false, &file, AT_STATX_DONT_SYNC) &&
                     matters(there, file) && look_at(at, path, false, &file);
  const int result = call();
  if (result == 0 && known && file.links == 1) tell_unlinked(there, file);
  return result;
}

template <class Call>
int renaming(int from_at, const char* from, int to_at, const char* to, bool exchanges, Call call) {
  Names file;
  Names replaced;
  const auto* there = engine_before(from_at, from);
  if (there == nullptr) there = engine_before(to_at, to);
  const bool known = there != nullptr && look_at(from_at, from, false, &file);
  const bool over = there != nullptr && look_at(to_at, to, false, &replaced);
  if (known && !drained(there, file)) return -1;
  if (over && exchanges && !drained(there, replaced)) return -1;
  const int result = call();
  if (result != 0) return result;
  char name[PATH_MAX];
  const Crossing crossing;
  if (known && absolute_name(to_at, to, name, sizeof name)) there->renamed(&file, name);
  if (over && exchanges) {
    if (absolute_name(from_at, from, name, sizeof name)) there->renamed(&replaced, name);
  } else if (over && replaced.links == 1 && !(known && replaced.inode == file.inode)) {
    there->unlinked(&replaced);
  }
  return result;
}

template <class Call>
int linking(int at, const char* path, bool follow, Call call) {
  Names file;
  const auto* const there = engine_before(at, path);
  if (there != nullptr && look_at(at, path, follow, &file) && !drained(there, file)) return -1;
  return call();
}

template <class Call>
int timing(const Engine* there, bool known, const Names& file, const timespec* times, Call call) {
  if (there == nullptr || !known) return call();
  const int result = call();
  if (result != 0) return result;
  long again = 0;
  {
    const Crossing crossing;
    again = there->times(file.device, file.inode, times);
  }
  return again == 1 ? call() : result;
}

template <class Call>
int timing_name(int at, const char* path, bool follow, const timespec* times, Call call) {
  Names file;
  const auto* const there = engine_before(at, path);
  const bool known = there != nullptr && look_at(at, path, follow, &file);
  return timing(there, known, file, times, call);
}

struct Times {
  timespec both[2];
  const timespec* pointer = nullptr;
  explicit Times(const timeval* from) {
    if (from == nullptr) return;
    for (int i = 0; i < 2; ++i) both[i] = {from[i].tv_sec, from[i].tv_usec * 1000};
    pointer = both;
  }
};

}  // namespace

FOREBAY_CALL int fb_unlink(const char* path) {
  return unlinking(AT_FDCWD, path, [&] { return real.unlink(path); });
}
FOREBAY_CALL int fb_unlinkat(int at, const char* path, int flags) {
  if ((flags & AT_REMOVEDIR) != 0) return real.unlinkat(at, path, flags);
  return unlinking(at, path, [&] { return real.unlinkat(at, path, flags); });
}
FOREBAY_CALL int fb_remove(const char* path) {
  return unlinking(AT_FDCWD, path, [&] { return real.remove(path); });
}
FOREBAY_CALL int fb_rename(const char* from, const char* to) {
  return renaming(AT_FDCWD, from, AT_FDCWD, to, false, [&] { return real.rename(from, to); });
}
FOREBAY_CALL int fb_renameat(int from_at, const char* from, int to_at, const char* to) {
  return renaming(from_at, from, to_at, to, false, [&] { return real.renameat(from_at, from, to_at, to); });
}
FOREBAY_CALL int fb_renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
  return renaming(from_at, from, to_at, to, (flags & RENAME_EXCHANGE) != 0,
                  [&] { return real.renameat2(from_at, from, to_at, to, flags); });
}
FOREBAY_CALL int fb_link(const char* from, const char* to) {
  return linking(AT_FDCWD, from, false, [&] { return real.link(from, to); });
}
FOREBAY_CALL int fb_linkat(int from_at, const char* from, int to_at, const char* to, int flags) {
  return linking(from_at, from, (flags & AT_SYMLINK_FOLLOW) != 0,
                 [&] { return real.linkat(from_at, from, to_at, to, flags); });
}

FOREBAY_CALL int fb_utimensat(int at, const char* path, const timespec times[2], int flags) {
  return timing_name(at, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, times,
                     [&] { return real.utimensat(at, path, times, flags); });
}
FOREBAY_CALL int fb_utime(const char* path, const utimbuf* times) {
  timespec both[2] = {};
  if (times != nullptr) {
    both[0].tv_sec = times->actime;
    both[1].tv_sec = times->modtime;
  }
  return timing_name(AT_FDCWD, path, true, times != nullptr ? both : nullptr,
                     [&] { return real.utime(path, times); });
}
FOREBAY_CALL int fb_utimes(const char* path, const timeval* times) {
  const Times given(times);
  return timing_name(AT_FDCWD, path, true, given.pointer, [&] { return real.utimes(path, times); });
}
FOREBAY_CALL int fb_lutimes(const char* path, const timeval* times) {
  const Times given(times);
  return timing_name(AT_FDCWD, path, false, given.pointer, [&] { return real.lutimes(path, times); });
}
FOREBAY_CALL int fb_futimesat(int at, const char* path, const timeval* times) {
  const Times given(times);
  return timing_name(at, path, true, given.pointer, [&] { return real.futimesat(at, path, times); });
}

namespace {

template <class Call>
int timing_descriptor(int fd, const timespec* times, Call call) {
  if (!buffered(fd)) return call();
  struct statx now;
  if (real.statx(fd, "", AT_EMPTY_PATH, STATX_INO, &now) != 0) return call();
  const Names file{static_cast<unsigned long>(now.stx_dev_major) << 32 | now.stx_dev_minor, now.stx_ino, 0,
                   1};
  return timing(engine.load(), true, file, times, call);
}

}  // namespace

FOREBAY_CALL int fb_futimens(int fd, const timespec times[2]) {
  return timing_descriptor(fd, times, [&] { return real.futimens(fd, times); });
}
FOREBAY_CALL int fb_futimes(int fd, const timeval* times) {
  const Times given(times);
  return timing_descriptor(fd, given.pointer, [&] { return real.futimes(fd, times); });
}

FOREBAY_CALL int fb_chdir(const char* path) {
  const int result = real.chdir(path);
  directory_changed();
  return result;
}
FOREBAY_CALL int fb_fchdir(int fd) {
  const int result = real.fchdir(fd);
  directory_changed();
  return result;
}

FOREBAY_EXPORT(unlink, fb_unlink);
FOREBAY_EXPORT(unlinkat, fb_unlinkat);
FOREBAY_EXPORT(remove, fb_remove);
FOREBAY_EXPORT(rename, fb_rename);
FOREBAY_EXPORT(renameat, fb_renameat);
FOREBAY_EXPORT(renameat2, fb_renameat2);
FOREBAY_EXPORT(link, fb_link);
FOREBAY_EXPORT(linkat, fb_linkat);
FOREBAY_EXPORT(utimensat, fb_utimensat);
FOREBAY_EXPORT(utime, fb_utime);
FOREBAY_EXPORT(utimes, fb_utimes);
FOREBAY_EXPORT(lutimes, fb_lutimes);
FOREBAY_EXPORT(futimesat, fb_futimesat);
FOREBAY_EXPORT(futimens, fb_futimens);
FOREBAY_EXPORT(futimes, fb_futimes);
FOREBAY_EXPORT(chdir, fb_chdir);
FOREBAY_EXPORT(fchdir, fb_fchdir);
