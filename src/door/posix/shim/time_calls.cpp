// Times that programs give to files. A drain that is under way may end with the time before: where some of
// the file is unsaved they are set once more.
#include <sys/time.h>

#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/calls.hpp"

using namespace forebay::posix;

namespace {

// What the caller gave, in one form. Read when the kernel has taken it, and not before: it may not be there.
class Times {
 public:
  explicit Times(const timespec* given) : pointer_(given) {}
  explicit Times(const timeval* given) : micro_(given) {}
  explicit Times(const utimbuf* given) : whole_(given) {}

  // Null: now.
  const timespec* get() {
    if (micro_ != nullptr) {
      for (int i = 0; i < 2; ++i) both_[i] = {micro_[i].tv_sec, micro_[i].tv_usec * 1000};
    } else if (whole_ != nullptr) {
      both_[0] = {whole_->actime, 0};
      both_[1] = {whole_->modtime, 0};
    } else {
      return pointer_;
    }
    return both_;
  }

 private:
  const timespec* pointer_ = nullptr;
  const timeval* micro_ = nullptr;
  const utimbuf* whole_ = nullptr;
  timespec both_[2] = {};
};

template <class Call>
int timing(const Engine* there, const Names& file, Times times, Call call) {
  const int result = call();
  if (result != 0) return result;
  long again = 0;
  {
    const Crossing crossing;
    again = there->times(file.device, file.inode, times.get());
  }
  return again == 1 ? call() : result;
}

template <class Call>
int timing_name(int at, const char* path, int flags, Times times, Call call) {
  Names file;
  const auto* const there = engine_before(at, path);
  const bool follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  if (there == nullptr ||
      look_at(at, path, follow, &file, (flags & AT_EMPTY_PATH) | AT_STATX_DONT_SYNC) != Kind::kFile)
    return call();
  return timing(there, file, times, call);
}

template <class Call>
int timing_descriptor(int fd, Times times, Call call) {
  Names file;
  if (!buffered(fd) || look_at(fd, "", true, &file, AT_EMPTY_PATH | AT_STATX_DONT_SYNC) != Kind::kFile)
    return call();
  return timing(engine.load(), file, times, call);
}

}  // namespace

FOREBAY_CALL int fb_utimensat(int at, const char* path, const timespec times[2], int flags) {
  const auto call = [&] { return real.utimensat(at, path, times, flags); };
  return path == nullptr ? timing_descriptor(at, Times(times), call)
                         : timing_name(at, path, flags, Times(times), call);
}
FOREBAY_CALL int fb_utime(const char* path, const utimbuf* times) {
  return timing_name(AT_FDCWD, path, 0, Times(times), [&] { return real.utime(path, times); });
}
FOREBAY_CALL int fb_utimes(const char* path, const timeval* times) {
  return timing_name(AT_FDCWD, path, 0, Times(times), [&] { return real.utimes(path, times); });
}
FOREBAY_CALL int fb_lutimes(const char* path, const timeval* times) {
  return timing_name(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, Times(times),
                     [&] { return real.lutimes(path, times); });
}
FOREBAY_CALL int fb_futimesat(int at, const char* path, const timeval* times) {
  const auto call = [&] { return real.futimesat(at, path, times); };
  return path == nullptr ? timing_descriptor(at, Times(times), call)
                         : timing_name(at, path, 0, Times(times), call);
}
FOREBAY_CALL int fb_futimens(int fd, const timespec times[2]) {
  return timing_descriptor(fd, Times(times), [&] { return real.futimens(fd, times); });
}
FOREBAY_CALL int fb_futimes(int fd, const timeval* times) {
  return timing_descriptor(fd, Times(times), [&] { return real.futimes(fd, times); });
}

FOREBAY_EXPORT(utimensat, fb_utimensat);
FOREBAY_EXPORT(utime, fb_utime);
FOREBAY_EXPORT(utimes, fb_utimes);
FOREBAY_EXPORT(lutimes, fb_lutimes);
FOREBAY_EXPORT(futimesat, fb_futimesat);
FOREBAY_EXPORT(futimens, fb_futimens);
FOREBAY_EXPORT(futimes, fb_futimes);
