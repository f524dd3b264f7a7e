// Reading, writing and seeking.
#include <string.h>
#include <sys/syscall.h>

#include "door/posix/shim/state.hpp"

using namespace forebay::posix;

namespace {

// Cancellation points stay ones: here, where nothing is held.
void may_be_cancelled() { pthread_testcancel(); }

bool read_served(ssize_t& result, int fd, const iovec* pieces, int count, off_t offset) {
  may_be_cancelled();
  return served(result, &Engine::read, fd, pieces, count, offset);
}

bool write_served(ssize_t& result, int fd, const iovec* pieces, int count, off_t offset) {
  may_be_cancelled();
  return served(result, &Engine::write, fd, pieces, count, offset);
}

}  // namespace

namespace {

// Apart from the functions that programs call, which so need no room on the stack for what they pass on.
[[gnu::noinline]] ssize_t read_slowly(int fd, void* to, size_t size) {
  ssize_t result = 0;
  const iovec piece{to, size};
  if (buffered(fd) && read_served(result, fd, &piece, 1, kHere)) return result;
  return real.read(fd, to, size);
}

[[gnu::noinline]] ssize_t write_slowly(int fd, const void* from, size_t size) {
  ssize_t result = 0;
  const iovec piece{const_cast<void*>(from), size};
  if (buffered(fd) && write_served(result, fd, &piece, 1, kHere)) return result;
  return real.write(fd, from, size);
}

[[gnu::noinline]] ssize_t pread_slowly(int fd, void* to, size_t size, off_t offset) {
  ssize_t result = 0;
  const iovec piece{to, size};
  if (offset >= 0 && buffered(fd) && read_served(result, fd, &piece, 1, offset)) return result;
  return real.pread(fd, to, size, offset);
}

[[gnu::noinline]] ssize_t pwrite_slowly(int fd, const void* from, size_t size, off_t offset) {
  ssize_t result = 0;
  const iovec piece{const_cast<void*>(from), size};
  if (offset >= 0 && buffered(fd) && write_served(result, fd, &piece, 1, offset)) return result;
  return real.pwrite(fd, from, size, offset);
}

[[gnu::noinline]] off_t seek_slowly(int fd, off_t offset, int whence) {
  off_t result = 0;
  if (buffered(fd) && served(result, &Engine::seek, fd, offset, whence)) return result;
  return real.lseek(fd, offset, whence);
}

}  // namespace

FOREBAY_CALL ssize_t fb_read(int fd, void* to, size_t size) {
  if (left_alone(fd)) [[likely]]
    return real.read(fd, to, size);
  return read_slowly(fd, to, size);
}

FOREBAY_CALL ssize_t fb_write(int fd, const void* from, size_t size) {
  if (left_alone(fd)) [[likely]]
    return real.write(fd, from, size);
  return write_slowly(fd, from, size);
}

FOREBAY_CALL ssize_t fb_pread(int fd, void* to, size_t size, off_t offset) {
  if (left_alone(fd)) [[likely]]
    return real.pread(fd, to, size, offset);
  return pread_slowly(fd, to, size, offset);
}

FOREBAY_CALL ssize_t fb_pwrite(int fd, const void* from, size_t size, off_t offset) {
  if (left_alone(fd)) [[likely]]
    return real.pwrite(fd, from, size, offset);
  return pwrite_slowly(fd, from, size, offset);
}

FOREBAY_CALL ssize_t fb_readv(int fd, const iovec* pieces, int count) {
  ssize_t result = 0;
  if (buffered(fd) && read_served(result, fd, pieces, count, kHere)) return result;
  return real.readv(fd, pieces, count);
}

FOREBAY_CALL ssize_t fb_writev(int fd, const iovec* pieces, int count) {
  ssize_t result = 0;
  if (buffered(fd) && write_served(result, fd, pieces, count, kHere)) return result;
  return real.writev(fd, pieces, count);
}

FOREBAY_CALL ssize_t fb_preadv(int fd, const iovec* pieces, int count, off_t offset) {
  ssize_t result = 0;
  if (offset >= 0 && buffered(fd) && read_served(result, fd, pieces, count, offset)) return result;
  return real.preadv(fd, pieces, count, offset);
}

FOREBAY_CALL ssize_t fb_pwritev(int fd, const iovec* pieces, int count, off_t offset) {
  ssize_t result = 0;
  if (offset >= 0 && buffered(fd) && write_served(result, fd, pieces, count, offset)) return result;
  return real.pwritev(fd, pieces, count, offset);
}

// Whatever asks for more than these two flags, which change nothing here, is left to the file itself.
FOREBAY_CALL ssize_t fb_preadv2(int fd, const iovec* pieces, int count, off_t offset, int flags) {
  ssize_t result = 0;
  if (offset >= -1 && buffered(fd)) {
    if ((flags & ~RWF_HIPRI) == 0) {
      if (read_served(result, fd, pieces, count, offset)) return result;
    } else if (!prepared(&Engine::go_direct, fd, "preadv2 with flags")) {
      return -1;
    }
  }
  return real.preadv2(fd, pieces, count, offset, flags);
}

FOREBAY_CALL ssize_t fb_pwritev2(int fd, const iovec* pieces, int count, off_t offset, int flags) {
  ssize_t result = 0;
  if (offset >= -1 && buffered(fd)) {
    if ((flags & ~RWF_HIPRI) == 0) {
      if (write_served(result, fd, pieces, count, offset)) return result;
    } else if (!prepared(&Engine::go_direct, fd, "pwritev2 with flags")) {
      return -1;
    }
  }
  return real.pwritev2(fd, pieces, count, offset, flags);
}

FOREBAY_CALL off_t fb_lseek(int fd, off_t offset, int whence) {
  // The position is the kernel's own; only what depends on the size is ours.
  if (whence == SEEK_SET || whence == SEEK_CUR || left_alone(fd)) [[likely]]
    return real.lseek(fd, offset, whence);
  return seek_slowly(fd, offset, whence);
}

extern "C" void __chk_fail() __attribute__((noreturn));

FOREBAY_CALL ssize_t fb_read_chk(int fd, void* to, size_t size, size_t room) {
  if (size > room) __chk_fail();
  return fb_read(fd, to, size);
}

FOREBAY_CALL ssize_t fb_pread_chk(int fd, void* to, size_t size, off_t offset, size_t room) {
  if (size > room) __chk_fail();
  return fb_pread(fd, to, size, offset);
}

FOREBAY_EXPORT(read, fb_read);
FOREBAY_EXPORT(__read, fb_read);
FOREBAY_EXPORT(__read_chk, fb_read_chk);
FOREBAY_EXPORT(write, fb_write);
FOREBAY_EXPORT(__write, fb_write);
FOREBAY_EXPORT(pread, fb_pread);
FOREBAY_EXPORT(pread64, fb_pread);
FOREBAY_EXPORT(__pread64, fb_pread);
FOREBAY_EXPORT(__pread_chk, fb_pread_chk);
FOREBAY_EXPORT(__pread64_chk, fb_pread_chk);
FOREBAY_EXPORT(pwrite, fb_pwrite);
FOREBAY_EXPORT(pwrite64, fb_pwrite);
FOREBAY_EXPORT(__pwrite64, fb_pwrite);
FOREBAY_EXPORT(readv, fb_readv);
FOREBAY_EXPORT(writev, fb_writev);
FOREBAY_EXPORT(preadv, fb_preadv);
FOREBAY_EXPORT(preadv64, fb_preadv);
FOREBAY_EXPORT(pwritev, fb_pwritev);
FOREBAY_EXPORT(pwritev64, fb_pwritev);
FOREBAY_EXPORT(preadv2, fb_preadv2);
FOREBAY_EXPORT(preadv64v2, fb_preadv2);
FOREBAY_EXPORT(pwritev2, fb_pwritev2);
FOREBAY_EXPORT(pwritev64v2, fb_pwritev2);
FOREBAY_EXPORT(lseek, fb_lseek);
FOREBAY_EXPORT(lseek64, fb_lseek);
FOREBAY_EXPORT(__lseek, fb_lseek);
