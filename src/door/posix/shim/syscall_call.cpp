// syscall(2) by number: the calls that some programs make that way.
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <type_traits>

#include "door/posix/shim/opened.hpp"

using namespace forebay::posix;

namespace forebay::posix {
void stop_buffering(const char* why);
}

extern "C" {
ssize_t fb_read(int, void*, size_t);
ssize_t fb_write(int, const void*, size_t);
ssize_t fb_pread(int, void*, size_t, off_t);
ssize_t fb_pwrite(int, const void*, size_t, off_t);
off_t fb_lseek(int, off_t, int);
int fb_open(const char*, int, ...);
int fb_openat(int, const char*, int, ...);
int fb_close(int);
int fb_close_range(unsigned, unsigned, int);
int fb_fsync(int);
int fb_ftruncate(int, off_t);
int fb_dup3(int, int, int);
int fb_renameat2(int, const char*, int, const char*, unsigned);
int fb_unlinkat(int, const char*, int);
ssize_t fb_copy_file_range(int, off64_t*, int, off64_t*, size_t, unsigned);
int fb_statx(int, const char*, int, unsigned, struct statx*);
void* fb_mmap(void*, size_t, int, int, int, off_t);
}

namespace {
template <class T>
T as(long value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}
}  // namespace

FOREBAY_CALL long fb_syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long a[6];
  for (auto& one : a) one = va_arg(more, long);
  va_end(more);
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0)
    return real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  switch (number) {
    case SYS_read:
      return fb_read(as<int>(a[0]), as<void*>(a[1]), as<size_t>(a[2]));
    case SYS_write:
      return fb_write(as<int>(a[0]), as<void*>(a[1]), as<size_t>(a[2]));
    case SYS_pread64:
      return fb_pread(as<int>(a[0]), as<void*>(a[1]), as<size_t>(a[2]), a[3]);
    case SYS_pwrite64:
      return fb_pwrite(as<int>(a[0]), as<void*>(a[1]), as<size_t>(a[2]), a[3]);
    case SYS_lseek:
      return fb_lseek(as<int>(a[0]), a[1], as<int>(a[2]));
#ifdef SYS_open
    case SYS_open:
      return fb_open(as<const char*>(a[0]), as<int>(a[1]), as<mode_t>(a[2]));
#endif
    case SYS_openat:
      return fb_openat(as<int>(a[0]), as<const char*>(a[1]), as<int>(a[2]), as<mode_t>(a[3]));
    case SYS_openat2: {
      const auto fd = static_cast<int>(real.syscall(number, a[0], a[1], a[2], a[3]));
      const auto* const how = as<const open_how*>(a[2]);
      return fd < 0 ? fd : opened(fd, as<int>(a[0]), as<const char*>(a[1]), static_cast<int>(how->flags));
    }
    case SYS_close:
      return fb_close(as<int>(a[0]));
    case SYS_close_range:
      return fb_close_range(as<unsigned>(a[0]), as<unsigned>(a[1]), as<int>(a[2]));
    case SYS_fsync:
    case SYS_fdatasync:
      return fb_fsync(as<int>(a[0]));
    case SYS_ftruncate:
      return fb_ftruncate(as<int>(a[0]), a[1]);
    case SYS_dup3:
      return fb_dup3(as<int>(a[0]), as<int>(a[1]), as<int>(a[2]));
    case SYS_renameat2:
      return fb_renameat2(as<int>(a[0]), as<const char*>(a[1]), as<int>(a[2]), as<const char*>(a[3]),
                          as<unsigned>(a[4]));
    case SYS_unlinkat:
      return fb_unlinkat(as<int>(a[0]), as<const char*>(a[1]), as<int>(a[2]));
    case SYS_copy_file_range:
      return fb_copy_file_range(as<int>(a[0]), as<off64_t*>(a[1]), as<int>(a[2]), as<off64_t*>(a[3]),
                                as<size_t>(a[4]), as<unsigned>(a[5]));
    case SYS_statx:
      return fb_statx(as<int>(a[0]), as<const char*>(a[1]), as<int>(a[2]), as<unsigned>(a[3]),
                      as<struct statx*>(a[4]));
    case SYS_mmap:
      return reinterpret_cast<long>(
          fb_mmap(as<void*>(a[0]), as<size_t>(a[1]), as<int>(a[2]), as<int>(a[3]), as<int>(a[4]), a[5]));
    case SYS_io_uring_setup:
      stop_buffering("io_uring");
      break;
    default:
      break;
  }
  return real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

FOREBAY_EXPORT(syscall, fb_syscall);
