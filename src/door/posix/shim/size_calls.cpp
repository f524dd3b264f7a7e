// Size, space and stable storage.
#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/opened.hpp"

using namespace forebay::posix;

namespace {

const Engine* loaded_here() {
  const bool here = active.load(std::memory_order_relaxed) && thread.depth == 0 && !in_vfork_child();
  return here ? engine.load(std::memory_order_acquire) : nullptr;
}

}  // namespace

extern "C" int fb_open(const char* path, int flags, ...);
extern "C" int fb_close(int fd);

FOREBAY_CALL int fb_ftruncate(int fd, off_t size) {
  int result = 0;
  if (size >= 0 && buffered(fd) && served(result, &Engine::truncate, fd, size)) return result;
  return real.ftruncate(fd, size);
}

FOREBAY_CALL int fb_truncate(const char* path, off_t size) {
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0 || size < 0 || !is_text(path) ||
      !may_lie_in_home(AT_FDCWD, path))
    return real.truncate(path, size);
  const int fd = fb_open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  const int result = fb_ftruncate(fd, size);
  const int why = errno;
  (void)fb_close(fd);
  errno = why;
  return result;
}

FOREBAY_CALL int fb_fallocate(int fd, int mode, off_t offset, off_t length) {
  if (!buffered(fd)) return real.fallocate(fd, mode, offset, length);
  // Reserving changes no byte; everything else does, at home.
  if ((mode & ~FALLOC_FL_KEEP_SIZE) != 0 && !prepared(&Engine::drain, fd, "fallocate with a mode")) return -1;
  const int result = real.fallocate(fd, mode, offset, length);
  if (result == 0) (void)prepared(&Engine::changed_at_home, fd);
  return result;
}

FOREBAY_CALL int fb_posix_fallocate(int fd, off_t offset, off_t length) {
  // Where the file system cannot, the C library writes a byte into every block that seems to be a hole.
  if (buffered(fd) && !prepared(&Engine::drain, fd, static_cast<const char*>(nullptr))) return errno;
  const int result = real.posix_fallocate(fd, offset, length);
  if (buffered(fd)) (void)prepared(&Engine::changed_at_home, fd);
  return result;
}

FOREBAY_CALL int fb_fsync(int fd) {
  int result = 0;
  if (buffered(fd)) {
    pthread_testcancel();
    if (served(result, &Engine::sync, fd)) return result;
  }
  return real.fsync(fd);
}

FOREBAY_CALL int fb_fdatasync(int fd) {
  int result = 0;
  if (buffered(fd)) {
    pthread_testcancel();
    if (served(result, &Engine::sync, fd)) return result;
  }
  return real.fdatasync(fd);
}

FOREBAY_CALL void fb_sync() {
  if (loaded_here() != nullptr) (void)prepared(&Engine::drain_everything, 0);
  real.sync();
}

FOREBAY_CALL int fb_syncfs(int fd) {
  if (loaded_here() != nullptr && !prepared(&Engine::drain_everything, 0)) return -1;
  return real.syncfs(fd);
}

FOREBAY_CALL int fb_sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags) {
  if (buffered(fd) && !prepared(&Engine::drain, fd, static_cast<const char*>(nullptr))) return -1;
  return real.sync_file_range(fd, offset, count, flags);
}

FOREBAY_CALL int fb_posix_fadvise(int fd, off_t offset, off_t length, int advice) {
  const int result = real.posix_fadvise(fd, offset, length, advice);
  if (result == 0 && buffered(fd)) (void)prepared(&Engine::advise, fd, offset, length, advice);
  return result;
}

FOREBAY_CALL ssize_t fb_readahead(int fd, off64_t offset, size_t count) {
  if (buffered(fd) && prepared(&Engine::advise, fd, static_cast<off_t>(offset), static_cast<off_t>(count),
                               POSIX_FADV_WILLNEED))
    return 0;
  return real.readahead(fd, offset, count);
}

FOREBAY_EXPORT(ftruncate, fb_ftruncate);
FOREBAY_EXPORT(ftruncate64, fb_ftruncate);
FOREBAY_EXPORT(truncate, fb_truncate);
FOREBAY_EXPORT(truncate64, fb_truncate);
FOREBAY_EXPORT(fallocate, fb_fallocate);
FOREBAY_EXPORT(fallocate64, fb_fallocate);
FOREBAY_EXPORT(posix_fallocate, fb_posix_fallocate);
FOREBAY_EXPORT(posix_fallocate64, fb_posix_fallocate);
FOREBAY_EXPORT(fsync, fb_fsync);
FOREBAY_EXPORT(fdatasync, fb_fdatasync);
FOREBAY_EXPORT(sync, fb_sync);
FOREBAY_EXPORT(syncfs, fb_syncfs);
FOREBAY_EXPORT(sync_file_range, fb_sync_file_range);
FOREBAY_EXPORT(posix_fadvise, fb_posix_fadvise);
FOREBAY_EXPORT(posix_fadvise64, fb_posix_fadvise);
FOREBAY_EXPORT(readahead, fb_readahead);
