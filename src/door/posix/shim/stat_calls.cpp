// Looking at files: the kernel's answer, with what the buffer knows better.
#include <string.h>
#include <sys/sysmacros.h>

#include "door/posix/shim/by_name.hpp"

using namespace forebay::posix;

namespace {

// What `call` finds, with what the buffer knows better. `path` null: by descriptor.
template <class Call>
int looked(int at, const char* path, struct stat* found, Call call) {
  int result = call();
  timespec before{};
  for (int turn = 0; turn < 3; ++turn) {
    if (result != 0 || !active.load(std::memory_order_relaxed) || thread.depth != 0 || in_vfork_child() ||
        !S_ISREG(found->st_mode) || !on_home_device(found->st_dev, at, path))
      return result;
    const auto* const there = path == nullptr || *path == '\0' ? engine.load() : engine_by_links(at, path);
    if (there == nullptr) return result;
    {
      const Crossing crossing;
      if (there->fix_stat(found) != kLookAgain) return result;
    }
    // Somebody else has changed it: home says the same as before.
    if (turn > 0 && before.tv_sec == found->st_ctim.tv_sec && before.tv_nsec == found->st_ctim.tv_nsec)
      return result;
    before = found->st_ctim;
    result = call();
  }
  return result;
}

// Before the kernel has seen the name.
bool may_mean_descriptor(int at, const char* path, int flags) {
  return (flags & AT_EMPTY_PATH) != 0 && at >= 0 && active.load(std::memory_order_relaxed) &&
         thread.depth == 0 && (path == nullptr || (is_text(path) && *path == '\0'));
}

}  // namespace

FOREBAY_CALL int fb_fstat(int fd, struct stat* found) {
  if (active.load(std::memory_order_relaxed) && state_of(fd) == State::kPlain) return real.fstat(fd, found);
  (void)buffered(fd);
  return looked(fd, nullptr, found, [&] { return real.fstat(fd, found); });
}
FOREBAY_CALL int fb_stat(const char* path, struct stat* found) {
  return looked(AT_FDCWD, path, found, [&] { return real.stat(path, found); });
}
FOREBAY_CALL int fb_lstat(const char* path, struct stat* found) {
  return looked(AT_FDCWD, path, found, [&] { return real.lstat(path, found); });
}
FOREBAY_CALL int fb_fstatat(int at, const char* path, struct stat* found, int flags) {
  if (may_mean_descriptor(at, path, flags)) (void)buffered(at);
  return looked(at, path, found, [&] { return real.fstatat(at, path, found, flags); });
}
FOREBAY_CALL int fb_xstat(int, const char* path, struct stat* found) { return fb_stat(path, found); }
FOREBAY_CALL int fb_lxstat(int, const char* path, struct stat* found) { return fb_lstat(path, found); }
FOREBAY_CALL int fb_fxstat(int, int fd, struct stat* found) { return fb_fstat(fd, found); }
FOREBAY_CALL int fb_fxstatat(int, int at, const char* path, struct stat* found, int flags) {
  return fb_fstatat(at, path, found, flags);
}

FOREBAY_CALL int fb_statx(int at, const char* path, int flags, unsigned mask, struct statx* found) {
  if (may_mean_descriptor(at, path, flags)) (void)buffered(at);
  struct stat classic;
  const int result = looked(at, path, &classic, [&] {
    const int answer = real.statx(at, path, flags, mask, found);
    memset(&classic, 0, sizeof classic);
    if (answer != 0) return answer;
    classic.st_mode = (found->stx_mask & STATX_TYPE) != 0 ? found->stx_mode : 0;
    classic.st_dev = makedev(found->stx_dev_major, found->stx_dev_minor);
    classic.st_ino = found->stx_ino;
    classic.st_size = static_cast<off_t>(found->stx_size);
    classic.st_blocks = static_cast<blkcnt_t>(found->stx_blocks);
    classic.st_mtim = {found->stx_mtime.tv_sec, found->stx_mtime.tv_nsec};
    classic.st_ctim = {found->stx_ctime.tv_sec, found->stx_ctime.tv_nsec};
    return answer;
  });
  if (result != 0 || !S_ISREG(classic.st_mode)) return result;
  found->stx_size = static_cast<uint64_t>(classic.st_size);
  found->stx_blocks = static_cast<uint64_t>(classic.st_blocks);
  found->stx_mtime.tv_sec = classic.st_mtim.tv_sec;
  found->stx_mtime.tv_nsec = static_cast<uint32_t>(classic.st_mtim.tv_nsec);
  found->stx_ctime.tv_sec = classic.st_ctim.tv_sec;
  found->stx_ctime.tv_nsec = static_cast<uint32_t>(classic.st_ctim.tv_nsec);
  return result;
}

FOREBAY_EXPORT(stat, fb_stat);
FOREBAY_EXPORT(stat64, fb_stat);
FOREBAY_EXPORT(lstat, fb_lstat);
FOREBAY_EXPORT(lstat64, fb_lstat);
FOREBAY_EXPORT(fstat, fb_fstat);
FOREBAY_EXPORT(fstat64, fb_fstat);
FOREBAY_EXPORT(fstatat, fb_fstatat);
FOREBAY_EXPORT(fstatat64, fb_fstatat);
FOREBAY_EXPORT(__xstat, fb_xstat);
FOREBAY_EXPORT(__xstat64, fb_xstat);
FOREBAY_EXPORT(__lxstat, fb_lxstat);
FOREBAY_EXPORT(__lxstat64, fb_lxstat);
FOREBAY_EXPORT(__fxstat, fb_fxstat);
FOREBAY_EXPORT(__fxstat64, fb_fxstat);
FOREBAY_EXPORT(__fxstatat, fb_fxstatat);
FOREBAY_EXPORT(__fxstatat64, fb_fxstatat);
FOREBAY_EXPORT(statx, fb_statx);
