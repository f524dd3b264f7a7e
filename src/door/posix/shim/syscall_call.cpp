// syscall(2) by number: what some programs call that way. Each number has the function here that serves the
// same call by name. What is not ours goes on as it came, and so does what such a function ends in: there are
// libraries that stand in front of a function of the C library themselves, and make its call by number.
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <initializer_list>
#include <type_traits>
#include <utility>

#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/opened.hpp"
#include "door/posix/shim/user_text.hpp"

using namespace forebay::posix;

namespace {

using Arguments = const long*;

template <class T>
T as(long value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class R, class... A, size_t... I>
long call(R (*function)(A...), Arguments a, std::index_sequence<I...>) {
  if constexpr (std::is_pointer_v<R>) {
    return reinterpret_cast<long>(function(as<A>(a[I])...));
  } else {
    return static_cast<long>(function(as<A>(a[I])...));
  }
}
template <class R, class... A>
long call(R (*function)(A...), Arguments a) {
  return call(function, a, std::make_index_sequence<sizeof...(A)>{});
}

long pass(long number, Arguments a) { return real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]); }

// Of a buffered descriptor, the first argument.
template <class R, class... A>
long of_buffered(R (*function)(A...), long number, Arguments a) {
  return buffered(as<int>(a[0])) ? call(function, a) : pass(number, a);
}

// The offset of these is in two halves, of which one holds all of it here.
template <class Function>
long vectors(Function function, long number, Arguments a, int flags) {
  if (!buffered(as<int>(a[0]))) return pass(number, a);
  return function(as<int>(a[0]), as<const iovec*>(a[1]), as<int>(a[2]), a[3], flags);
}

long open_by_number(long number, Arguments a) {
  const auto fd = static_cast<int>(pass(number, a));
  switch (number) {
    case SYS_open:
      return opened(fd, AT_FDCWD, as<const char*>(a[0]), as<int>(a[1]));
    case SYS_openat:
      return opened(fd, as<int>(a[0]), as<const char*>(a[1]), as<int>(a[2]));
    default:
      if (fd < 0) return fd;
      return opened(fd, as<int>(a[0]), as<const char*>(a[1]),
                    static_cast<int>(as<const open_how*>(a[2])->flags));
  }
}

// Times in seconds and microseconds, which may not be there. `times` is the number of that argument.
long old_times(long number, Arguments a) {
  const int at = number == SYS_utimes ? AT_FDCWD : as<int>(a[0]);
  const long path = number == SYS_utimes ? a[0] : a[1];
  const auto* const given = as<const timeval*>(number == SYS_utimes ? a[1] : a[2]);
  if (given == nullptr) return fb_utimensat(at, as<const char*>(path), nullptr, 0);
  if (!is_readable(given, 2 * sizeof *given)) return pass(number, a);
  timespec both[2];
  for (int i = 0; i < 2; ++i) {
    if (given[i].tv_usec < 0 || given[i].tv_usec >= 1'000'000) return pass(number, a);
    both[i] = {given[i].tv_sec, given[i].tv_usec * 1000};
  }
  return fb_utimensat(at, as<const char*>(path), both, 0);
}

// Reading and writing.
long transfer(long number, Arguments a) {
  switch (number) {
    case SYS_read:
      return of_buffered(fb_read, number, a);
    case SYS_write:
      return of_buffered(fb_write, number, a);
    case SYS_pread64:
      return of_buffered(fb_pread, number, a);
    case SYS_pwrite64:
      return of_buffered(fb_pwrite, number, a);
    case SYS_readv:
      return of_buffered(fb_readv, number, a);
    case SYS_writev:
      return of_buffered(fb_writev, number, a);
    case SYS_preadv:
    case SYS_pwritev:
      // An offset of -1 is none here.
      if (a[3] < 0) return pass(number, a);
      return vectors(number == SYS_preadv ? fb_preadv2 : fb_pwritev2, number, a, 0);
    case SYS_preadv2:
      return vectors(fb_preadv2, number, a, as<int>(a[5]));
    case SYS_pwritev2:
      return vectors(fb_pwritev2, number, a, as<int>(a[5]));
    case SYS_lseek:
      return of_buffered(fb_lseek, number, a);
    case SYS_sendfile:
      return buffered(as<int>(a[0])) || buffered(as<int>(a[1])) ? call(fb_sendfile, a) : pass(number, a);
    case SYS_splice:
      return buffered(as<int>(a[0])) || buffered(as<int>(a[2])) ? call(fb_splice, a) : pass(number, a);
    case SYS_copy_file_range:
      return buffered(as<int>(a[0])) || buffered(as<int>(a[2])) ? call(fb_copy_file_range, a)
                                                                : pass(number, a);
    default:
      return kPass;
  }
}

// Descriptors.
long descriptor(long number, Arguments a) {
  switch (number) {
    case SYS_close:
      return state_of(as<int>(a[0])) != State::kUnknown ? call(fb_close, a) : pass(number, a);
    case SYS_close_range:
      return call(fb_close_range, a);
    case SYS_dup:
      return call(fb_dup, a);
    case SYS_dup2:
      return call(fb_dup2, a);
    case SYS_dup3:
      return call(fb_dup3, a);
    case SYS_fcntl:
      return fb_fcntl(as<int>(a[0]), as<int>(a[1]), as<void*>(a[2]));
    case SYS_ioctl:
      return buffered(as<int>(a[0])) ? fb_ioctl(as<int>(a[0]), as<unsigned long>(a[1]), as<void*>(a[2]))
                                     : pass(number, a);
    case SYS_flock:
      return of_buffered(fb_flock, number, a);
    case SYS_ftruncate:
      return of_buffered(fb_ftruncate, number, a);
    case SYS_fallocate:
      return of_buffered(fb_fallocate, number, a);
    case SYS_fsync:
      return of_buffered(fb_fsync, number, a);
    case SYS_fdatasync:
      return of_buffered(fb_fdatasync, number, a);
    case SYS_sync:
      fb_sync();
      return 0;
    case SYS_syncfs:
      return call(fb_syncfs, a);
    case SYS_sync_file_range:
      return of_buffered(fb_sync_file_range, number, a);
    case SYS_readahead:
      return of_buffered(fb_readahead, number, a);
    case SYS_fstat:
      return of_buffered(fb_fstat, number, a);
    case SYS_fchmod:
      return of_buffered(fb_fchmod, number, a);
    default:
      return kPass;
  }
}

// Names.
long name(long number, Arguments a) {
  switch (number) {
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
      return open_by_number(number, a);
    case SYS_creat:
      return call(fb_creat, a);
    case SYS_truncate:
      return call(fb_truncate, a);
    case SYS_stat:
      return call(fb_stat, a);
    case SYS_lstat:
      return call(fb_lstat, a);
    case SYS_newfstatat:
      return call(fb_fstatat, a);
    case SYS_statx:
      return call(fb_statx, a);
    case SYS_unlink:
      return call(fb_unlink, a);
    case SYS_unlinkat:
      return call(fb_unlinkat, a);
    case SYS_rename:
      return call(fb_rename, a);
    case SYS_renameat:
      return call(fb_renameat, a);
    case SYS_renameat2:
      return call(fb_renameat2, a);
    case SYS_link:
      return call(fb_link, a);
    case SYS_linkat:
      return call(fb_linkat, a);
    case SYS_utimensat:
      return call(fb_utimensat, a);
    case SYS_utime:
      if (a[1] != 0 && !is_readable(as<const void*>(a[1]), sizeof(utimbuf))) return pass(number, a);
      return call(fb_utime, a);
    case SYS_utimes:
    case SYS_futimesat:
      return old_times(number, a);
    case SYS_chmod:
      return call(fb_chmod, a);
    case SYS_fchmodat:
      return fb_fchmodat(as<int>(a[0]), as<const char*>(a[1]), as<mode_t>(a[2]), 0);
    case SYS_fchmodat2:
      return call(fb_fchmodat, a);
    case SYS_chown:
      return call(fb_chown, a);
    case SYS_lchown:
      return call(fb_lchown, a);
    case SYS_fchown:
      return call(fb_fchown, a);
    case SYS_fchownat:
      return call(fb_fchownat, a);
    case SYS_inotify_add_watch:
      return call(fb_inotify_add_watch, a);
    case SYS_fanotify_mark:
      return call(fb_fanotify_mark, a);
    case SYS_chdir:
      return call(fb_chdir, a);
    case SYS_fchdir:
      return call(fb_fchdir, a);
    default:
      return kPass;
  }
}

// Memory, and processes.
long process(long number, Arguments a) {
  switch (number) {
    case SYS_mmap:
      return call(fb_mmap, a);
    case SYS_munmap:
      return call(fb_munmap, a);
    case SYS_mprotect:
      return call(fb_mprotect, a);
    case SYS_pkey_mprotect:
      return call(fb_pkey_mprotect, a);
    case SYS_shmdt:
      return call(fb_shmdt, a);
    case SYS_mremap:
      return reinterpret_cast<long>(
          fb_mremap(as<void*>(a[0]), as<size_t>(a[1]), as<size_t>(a[2]), as<int>(a[3]), as<void*>(a[4])));
    case SYS_execve:
      return call(fb_execve, a);
    case SYS_execveat:
      return call(fb_execveat, a);
    case SYS_exit_group:
      fb__exit(as<int>(a[0]));
      return 0;
    case SYS_setrlimit:
      return call(fb_setrlimit, a);
    case SYS_prlimit64:
      return call(fb_prlimit, a);
    case SYS_io_submit:
      return before_submitting(a[1], as<void*>(a[2])) ? pass(number, a) : -1;
    case SYS_io_uring_setup:
      stop_buffering("io_uring");
      return pass(number, a);
    default:
      return kPass;
  }
}

struct ByNumber {
  ByNumber() { ++thread.by_number; }
  ~ByNumber() { --thread.by_number; }
  ByNumber(const ByNumber&) = delete;
  ByNumber& operator=(const ByNumber&) = delete;
};

}  // namespace

FOREBAY_CALL long fb_syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long a[6];
  for (auto& one : a) one = va_arg(more, long);
  va_end(more);
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0 || thread.by_number != 0)
    return pass(number, a);
  const ByNumber here;
  for (const auto serve : {transfer, descriptor, name, process}) {
    if (const long result = serve(number, a); result != kPass) return result;
  }
  return pass(number, a);
}

FOREBAY_EXPORT(syscall, fb_syscall);
