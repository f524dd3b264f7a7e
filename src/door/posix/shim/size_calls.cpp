// Size, space and stable storage.
#include <sys/resource.h>

#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/opened.hpp"

using namespace forebay::posix;

FOREBAY_CALL int fb_ftruncate(int fd, off_t size) {
  int result = 0;
  if (size >= 0 && buffered(fd) && served(result, &Engine::truncate, fd, size)) return result;
  return real.ftruncate(fd, size);
}

namespace {

constexpr int kUndone = -2;

int truncated_at_home(const Engine* there, const Names& file, const char* path, off_t size) {
  {
    Crossing crossing;
    const long at_home = there->truncates_at_home(file.device, file.inode);
    if (at_home < 0) return crossing.answer<int>(at_home);
    if (at_home == 0) return kUndone;
  }
  const int result = real.truncate(path, size);
  if (result != 0) return result;
  const Crossing crossing;
  (void)there->truncated(file.device, file.inode);
  return result;
}

}  // namespace

FOREBAY_CALL int fb_truncate(const char* path, off_t size) {
  Names file;
  const auto* const there = size >= 0 ? engine_before(AT_FDCWD, path) : nullptr;
  if (there == nullptr || look_at(AT_FDCWD, path, true, &file, AT_STATX_DONT_SYNC) != Kind::kFile)
    return real.truncate(path, size);
  if (const int result = truncated_at_home(there, file, path, size); result != kUndone) return result;
  const int fd = fb_open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  // Where it cannot be opened the kernel has words of its own. Without a number to be had, what is unsaved
  // goes home first.
  if (fd < 0)
    return (errno != EMFILE && errno != ENFILE) || drained(there, file, AT_FDCWD, path)
               ? real.truncate(path, size)
               : -1;
  const int result = fb_ftruncate(fd, size);
  const int why = errno;
  (void)fb_close(fd);
  errno = why;
  return result;
}

FOREBAY_CALL int fb_fallocate(int fd, int mode, off_t offset, off_t length) {
  if (!buffered(fd)) return real.fallocate(fd, mode, offset, length);
  // Reserving changes no byte, but the file's time; everything else changes bytes, at home.
  const bool reserves = (mode & ~FALLOC_FL_KEEP_SIZE) == 0;
  if (!prepared(&Engine::drain, fd, reserves ? nullptr : "fallocate with a mode")) return -1;
  const int result = real.fallocate(fd, mode, offset, length);
  if (result == 0) (void)prepared(&Engine::changed_at_home, fd, reserves ? 0 : 1);
  return result;
}

FOREBAY_CALL int fb_posix_fallocate(int fd, off_t offset, off_t length) {
  // Where the file system cannot, the C library writes a byte into every block that seems to be a hole.
  if (buffered(fd) && !prepared(&Engine::drain, fd, static_cast<const char*>(nullptr))) return errno;
  const int result = real.posix_fallocate(fd, offset, length);
  if (buffered(fd)) (void)prepared(&Engine::changed_at_home, fd, 0);
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

// Of everybody's files: what their writers have not carried home yet.
FOREBAY_CALL void fb_sync() {
  if (engine_of_buffer() != nullptr) (void)prepared(&Engine::drain_below, "");
  real.sync();
}

FOREBAY_CALL int fb_syncfs(int fd) {
  if (engine_of_buffer() != nullptr && !prepared(&Engine::drain_below, "")) return -1;
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
  // Of nothing, for what the kernel has to say against it.
  if (buffered(fd) && real.readahead(fd, offset, 0) == 0 &&
      prepared(&Engine::advise, fd, static_cast<off_t>(offset), static_cast<off_t>(count),
               POSIX_FADV_WILLNEED))
    return 0;
  return real.readahead(fd, offset, count);
}

namespace {

// Where a process may not write is for the kernel to say.
int limited(int result, int resource, const rlimit* limit) {
  if (result == 0 && resource == RLIMIT_FSIZE && limit != nullptr && limit->rlim_cur != RLIM_INFINITY)
    stop_buffering_if_loaded("a limit of file sizes");
  return result;
}

}  // namespace

FOREBAY_CALL int fb_setrlimit(__rlimit_resource resource, const rlimit* limit) {
  return limited(real.setrlimit(resource, limit), resource, limit);
}
FOREBAY_CALL int fb_prlimit(pid_t process, __rlimit_resource resource, const rlimit* limit, rlimit* old) {
  const int result = real.prlimit(process, resource, limit, old);
  return process == 0 || process == ::getpid() ? limited(result, resource, limit) : result;
}

FOREBAY_EXPORT(setrlimit, fb_setrlimit);
FOREBAY_EXPORT(setrlimit64, fb_setrlimit);
FOREBAY_EXPORT(prlimit, fb_prlimit);
FOREBAY_EXPORT(prlimit64, fb_prlimit);
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
