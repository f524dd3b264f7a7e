// System calls by their numbers, as some programs and libraries make them, mixed with the C library's.
#include <linux/aio_abi.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <utime.h>

#include <cstdint>
#include <cstring>

#include "cases/cases.hpp"

namespace cases {
namespace {

void show_size(const char* what, const struct stat& found, long result) {
  std::printf("%s: ", what);
  say("size", result < 0 ? result : found.st_size);
}

void transfers(int fd) {
  char text[] = "by number";
  char room[64] = {};
  const iovec out[] = {{text, 3}, {text + 3, 6}};
  const iovec in[] = {{room, 5}, {room + 5, 50}};
  say("write", ::syscall(SYS_write, fd, text, 9));
  say("pwrite64", ::syscall(SYS_pwrite64, fd, text, 9, 20));
  say("writev", ::syscall(SYS_writev, fd, out, 2));
  say("pwritev", ::syscall(SYS_pwritev, fd, out, 2, 40, 0));
  say("pwritev2", ::syscall(SYS_pwritev2, fd, out, 2, 60, 0, 0));
  say("pwritev2 here", ::syscall(SYS_pwritev2, fd, out, 2, -1L, -1L, 0));
  say("lseek", ::syscall(SYS_lseek, fd, 2, SEEK_SET));
  say("read", ::syscall(SYS_read, fd, room, 5));
  say("readv", ::syscall(SYS_readv, fd, in, 2));
  std::printf("%.40s\n", room);
  say("pread64", ::syscall(SYS_pread64, fd, room, 60, 15));
  say("preadv", ::syscall(SYS_preadv, fd, in, 2, 18, 0));
  say("preadv2", ::syscall(SYS_preadv2, fd, in, 2, 60, 0, 0));
  std::printf("%.9s\n", room);
  say("ftruncate", ::syscall(SYS_ftruncate, fd, 70));
  say("fallocate", ::syscall(SYS_fallocate, fd, 0, 0, 90));
  say("fsync", ::syscall(SYS_fsync, fd));
  say("fdatasync", ::syscall(SYS_fdatasync, fd));
  say("sync_file_range", ::syscall(SYS_sync_file_range, fd, 0, 0, 0));
  say("fadvise64", ::syscall(SYS_fadvise64, fd, 0, 0, POSIX_FADV_RANDOM));
  say("flock", ::syscall(SYS_flock, fd, LOCK_EX | LOCK_NB));
  say("flock", ::syscall(SYS_flock, fd, LOCK_UN));
}

void looks(int fd) {
  struct stat found{};
  show_size("fstat", found, ::syscall(SYS_fstat, fd, &found));
  show_size("stat", found, ::syscall(SYS_stat, "a", &found));
  show_size("lstat", found, ::syscall(SYS_lstat, "a", &found));
  show_size("newfstatat", found, ::syscall(SYS_newfstatat, AT_FDCWD, "a", &found, 0));
  show_size("newfstatat", found, ::syscall(SYS_newfstatat, fd, "", &found, AT_EMPTY_PATH));
  struct statx more{};
  say("statx", ::syscall(SYS_statx, AT_FDCWD, "a", 0, STATX_SIZE, &more));
  say("size", static_cast<long>(more.stx_size));
}

void copies(int fd) {
  const int other = static_cast<int>(::syscall(SYS_creat, "copy", 0644));
  say("write", ::write(fd, "unsaved", 7));
  say("sendfile", ::syscall(SYS_sendfile, other, fd, nullptr, 0));
  off_t from = 5;
  say("sendfile", ::syscall(SYS_sendfile, other, fd, &from, 40));
  say("write", ::write(fd, "unsaved", 7));
  loff_t in = 0;
  loff_t out = 100;
  say("copy_file_range", ::syscall(SYS_copy_file_range, fd, &in, other, &out, 60, 0));
  int ends[2];
  if (::pipe(ends) != 0) return;
  say("pwrite", ::pwrite(fd, "more", 4, 30));
  in = 20;
  say("splice", ::syscall(SYS_splice, fd, &in, ends[1], nullptr, 50, 0));
  say("splice", ::syscall(SYS_splice, ends[0], nullptr, other, nullptr, 50, 0));
  ::close(ends[0]);
  ::close(ends[1]);
  say("close", ::syscall(SYS_close, other));
  show_file("copy");
}

void names(int fd) {
  const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  say("utimensat", ::syscall(SYS_utimensat, fd, nullptr, times, 0));
  struct stat found{};
  ::stat("a", &found);
  say("long ago", found.st_mtim.tv_sec == 1'000'000'000);
  say("write", ::write(fd, "unsaved", 7));
  say("link", ::syscall(SYS_link, "a", "b"));
  show_file("b");
  say("linkat", ::syscall(SYS_linkat, AT_FDCWD, "a", AT_FDCWD, "c", 0));
  say("unlink", ::syscall(SYS_unlink, "b"));
  say("write", ::write(fd, "unsaved", 7));
  say("rename", ::syscall(SYS_rename, "c", "d"));
  say("renameat", ::syscall(SYS_renameat, AT_FDCWD, "a", AT_FDCWD, "e"));
  say("renameat2", ::syscall(SYS_renameat2, AT_FDCWD, "e", AT_FDCWD, "a", RENAME_NOREPLACE));
  show_file("d");
  say("truncate", ::syscall(SYS_truncate, "d", 50));
  say("size", ::lseek(fd, 0, SEEK_END));
  say("unlinkat", ::syscall(SYS_unlinkat, AT_FDCWD, "d", 0));
  say("chmod", ::syscall(SYS_chmod, "a", 0600));
  say("fchmod", ::syscall(SYS_fchmod, fd, 0644));
  say("write", ::write(fd, "unsaved", 7));
  say("fchmodat2", ::syscall(SYS_fchmodat2, AT_FDCWD, "a", 04711, AT_SYMLINK_NOFOLLOW));
  say("close", ::close(::dup(fd)));
  ::stat("a", &found);
  say("mode", static_cast<long>(found.st_mode));
  const utimbuf old{1'100'000'000, 1'100'000'000};
  say("write", ::write(fd, "unsaved", 7));
  say("utime", ::syscall(SYS_utime, "a", &old));
  say("utime of nowhere", ::syscall(SYS_utime, "a", 8));
  say("utimes of nowhere", ::syscall(SYS_utimes, "a", 8));
  ::stat("a", &found);
  say("long ago", found.st_mtim.tv_sec == 1'100'000'000);
}

// The kernel's own asynchronous I/O.
void submits() {
  const int fd = static_cast<int>(::syscall(SYS_open, "aio", O_RDWR | O_CREAT, 0644));
  say("write", ::write(fd, "staged before", 13));
  aio_context_t context = 0;
  say("io_setup", ::syscall(SYS_io_setup, 4, &context));
  char room[16] = {};
  iocb control{};
  control.aio_fildes = static_cast<std::uint32_t>(fd);
  control.aio_lio_opcode = IOCB_CMD_PREAD;
  control.aio_buf = reinterpret_cast<std::uintptr_t>(room);
  control.aio_nbytes = sizeof room;
  iocb* list[] = {&control};
  io_event event{};
  say("io_submit", ::syscall(SYS_io_submit, context, 1, list));
  say("io_getevents", ::syscall(SYS_io_getevents, context, 1, 1, &event, nullptr));
  std::printf("%lld %s\n", static_cast<long long>(event.res), room);
  control.aio_lio_opcode = IOCB_CMD_PWRITE;
  control.aio_nbytes = 6;
  control.aio_offset = 13;
  say("io_submit", ::syscall(SYS_io_submit, context, 1, list));
  say("io_getevents", ::syscall(SYS_io_getevents, context, 1, 1, &event, nullptr));
  say("read", ::pread(fd, room, sizeof room, 10));
  say("io_submit", ::syscall(SYS_io_submit, context, 1, nullptr));
  say("io_destroy", ::syscall(SYS_io_destroy, context));
  say("close", ::close(fd));
  show_file("aio");
}

void descriptors_of(int fd) {
  const long one = ::syscall(SYS_dup, fd);
  say("dup", one < 0 ? -1 : 0);
  say("write", ::write(static_cast<int>(one), "1", 1));
  say("dup2", ::syscall(SYS_dup2, fd, one));
  say("dup3", ::syscall(SYS_dup3, fd, one, O_CLOEXEC));
  const long two = ::syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 20);
  say("fcntl", two < 0 ? -1 : 0);
  say("append", ::syscall(SYS_fcntl, two, F_SETFL, O_APPEND));
  say("write", ::write(static_cast<int>(two), "at the end", 10));
  say("close_range", ::syscall(SYS_close_range, two, two, 0));
  say("close", ::syscall(SYS_close, one));
  void* const there =
      reinterpret_cast<void*>(::syscall(SYS_mmap, nullptr, 100, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  std::memcpy(there, "mapped", 6);
  char room[8] = {};
  say("pread", ::pread(fd, room, 6, 0));
  std::printf("%s\n", room);
  say("munmap", ::syscall(SYS_munmap, there, 100));
}

}  // namespace

int by_number() {
  int fd = static_cast<int>(::syscall(SYS_open, "a", O_RDWR | O_CREAT, 0644));
  transfers(fd);
  looks(fd);
  copies(fd);
  names(fd);
  say("close", ::syscall(SYS_close, fd));
  show_file("a");
  fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "a", O_RDWR));
  say("write", ::write(fd, "seen", 4));
  open_how how{};
  how.flags = O_RDWR | O_APPEND;
  const long second = ::syscall(SYS_openat2, AT_FDCWD, "a", &how, sizeof how);
  say("openat2", ::write(static_cast<int>(second), "appended", 8));
  say("syncfs", ::syscall(SYS_syncfs, fd));
  descriptors_of(fd);
  // A child that ends by number, and one that becomes another program by number.
  if (::fork() == 0) {
    (void)!::write(static_cast<int>(second), "child", 5);
    ::syscall(SYS_exit_group, 0);
  }
  ::wait(nullptr);
  if (::fork() == 0) {
    ::dup2(static_cast<int>(second), 1);
    char name[] = "printf";
    char text[] = "printed";
    char* const words[] = {name, text, nullptr};
    (void)!::write(1, "before ", 7);
    ::syscall(SYS_execve, "/usr/bin/printf", words, environ);
    ::_exit(1);
  }
  ::wait(nullptr);
  show_file("a");
  submits();
  return 0;
}

}  // namespace cases
