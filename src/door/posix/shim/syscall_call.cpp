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
int fb_close(int);
int fb_close_range(unsigned, unsigned, int);
int fb_fsync(int);
int fb_ftruncate(int, off_t);
int fb_dup3(int, int, int);
int fb_renameat2(int, const char*, int, const char*, unsigned);
int fb_unlinkat(int, const char*, int);
ssize_t fb_copy_file_range(int, off64_t*, int, off64_t*, size_t, unsigned);
int fb_statx(int, const char*, int, unsigned, struct statx*);
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
  // What is not ours goes on as it came: there are libraries that stand in front of a function of the C
  // library themselves, and make the system call behind it by number.
  const auto fd = as<int>(a[0]);
  switch (number) {
    case SYS_read:
      if (buffered(fd)) return fb_read(fd, as<void*>(a[1]), as<size_t>(a[2]));
      break;
    case SYS_write:
      if (buffered(fd)) return fb_write(fd, as<void*>(a[1]), as<size_t>(a[2]));
      break;
    case SYS_pread64:
      if (buffered(fd)) return fb_pread(fd, as<void*>(a[1]), as<size_t>(a[2]), a[3]);
      break;
    case SYS_pwrite64:
      if (buffered(fd)) return fb_pwrite(fd, as<void*>(a[1]), as<size_t>(a[2]), a[3]);
      break;
    case SYS_lseek:
      if (buffered(fd)) return fb_lseek(fd, a[1], as<int>(a[2]));
      break;
#ifdef SYS_open
    case SYS_open:
      return opened(static_cast<int>(real.syscall(number, a[0], a[1], a[2])), AT_FDCWD, as<const char*>(a[0]),
                    as<int>(a[1]));
#endif
    case SYS_openat:
      return opened(static_cast<int>(real.syscall(number, a[0], a[1], a[2], a[3])), fd, as<const char*>(a[1]),
                    as<int>(a[2]));
    case SYS_openat2: {
      const auto made_now = static_cast<int>(real.syscall(number, a[0], a[1], a[2], a[3]));
      if (made_now < 0) return made_now;
      return opened(made_now, fd, as<const char*>(a[1]), static_cast<int>(as<const open_how*>(a[2])->flags));
    }
    case SYS_close:
      if (state_of(fd) != State::kUnknown) return fb_close(fd);
      break;
    case SYS_close_range:
      return fb_close_range(as<unsigned>(a[0]), as<unsigned>(a[1]), as<int>(a[2]));
    case SYS_fsync:
    case SYS_fdatasync:
      if (buffered(fd)) return fb_fsync(fd);
      break;
    case SYS_ftruncate:
      if (buffered(fd)) return fb_ftruncate(fd, a[1]);
      break;
    case SYS_dup3:
      return fb_dup3(as<int>(a[0]), as<int>(a[1]), as<int>(a[2]));
    case SYS_renameat2:
      return fb_renameat2(as<int>(a[0]), as<const char*>(a[1]), as<int>(a[2]), as<const char*>(a[3]),
                          as<unsigned>(a[4]));
    case SYS_unlinkat:
      return fb_unlinkat(as<int>(a[0]), as<const char*>(a[1]), as<int>(a[2]));
    case SYS_copy_file_range:
      if (buffered(fd) || buffered(as<int>(a[2])))
        return fb_copy_file_range(fd, as<off64_t*>(a[1]), as<int>(a[2]), as<off64_t*>(a[3]), as<size_t>(a[4]),
                                  as<unsigned>(a[5]));
      break;
    case SYS_statx:
      return fb_statx(as<int>(a[0]), as<const char*>(a[1]), as<int>(a[2]), as<unsigned>(a[3]),
                      as<struct statx*>(a[4]));
    case SYS_mmap:
      if ((a[3] & MAP_ANONYMOUS) == 0 && buffered(as<int>(a[4])) &&
          !prepared(&Engine::go_direct, as<int>(a[4]), "mmap"))
        return -1;
      break;
    case SYS_io_uring_setup:
      stop_buffering("io_uring");
      break;
    default:
      break;
  }
  return real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

FOREBAY_EXPORT(syscall, fb_syscall);
