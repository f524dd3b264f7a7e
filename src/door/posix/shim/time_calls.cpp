// Times that programs give to files. A drain that is under way may end with the time before: where some of
// the file is unsaved they are set once more.
#include <sys/time.h>

#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/calls.hpp"

using namespace forebay::posix;

namespace {

template <class Call>
int timing(const Engine* there, const Names& file, const timespec* times, Call call) {
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
int timing_name(int at, const char* path, int flags, const timespec* times, Call call) {
  Names file;
  const auto* const there = engine_before(at, path);
  const bool follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  if (there == nullptr || look_at(at, path, follow, &file, flags & AT_EMPTY_PATH) != Kind::kFile)
    return call();
  return timing(there, file, times, call);
}

template <class Call>
int timing_descriptor(int fd, const timespec* times, Call call) {
  Names file;
  if (!buffered(fd) || look_at(fd, "", true, &file, AT_EMPTY_PATH) != Kind::kFile) return call();
  return timing(engine.load(), file, times, call);
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

FOREBAY_CALL int fb_utimensat(int at, const char* path, const timespec times[2], int flags) {
  const auto call = [&] { return real.utimensat(at, path, times, flags); };
  return path == nullptr ? timing_descriptor(at, times, call) : timing_name(at, path, flags, times, call);
}
FOREBAY_CALL int fb_utime(const char* path, const utimbuf* times) {
  timespec both[2] = {};
  if (times != nullptr) {
    both[0].tv_sec = times->actime;
    both[1].tv_sec = times->modtime;
  }
  return timing_name(AT_FDCWD, path, 0, times != nullptr ? both : nullptr,
                     [&] { return real.utime(path, times); });
}
FOREBAY_CALL int fb_utimes(const char* path, const timeval* times) {
  const Times given(times);
  return timing_name(AT_FDCWD, path, 0, given.pointer, [&] { return real.utimes(path, times); });
}
FOREBAY_CALL int fb_lutimes(const char* path, const timeval* times) {
  const Times given(times);
  return timing_name(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, given.pointer,
                     [&] { return real.lutimes(path, times); });
}
FOREBAY_CALL int fb_futimesat(int at, const char* path, const timeval* times) {
  const Times given(times);
  const auto call = [&] { return real.futimesat(at, path, times); };
  return path == nullptr ? timing_descriptor(at, given.pointer, call)
                         : timing_name(at, path, 0, given.pointer, call);
}
FOREBAY_CALL int fb_futimens(int fd, const timespec times[2]) {
  return timing_descriptor(fd, times, [&] { return real.futimens(fd, times); });
}
FOREBAY_CALL int fb_futimes(int fd, const timeval* times) {
  const Times given(times);
  return timing_descriptor(fd, given.pointer, [&] { return real.futimes(fd, times); });
}

FOREBAY_EXPORT(utimensat, fb_utimensat);
FOREBAY_EXPORT(utime, fb_utime);
FOREBAY_EXPORT(utimes, fb_utimes);
FOREBAY_EXPORT(lutimes, fb_lutimes);
FOREBAY_EXPORT(futimesat, fb_futimesat);
FOREBAY_EXPORT(futimens, fb_futimens);
FOREBAY_EXPORT(futimes, fb_futimes);
