// The C library's own functions behind those that the shim stands in front of.
//
#pragma once

#include <aio.h>
#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>
#include <utmp.h>

// Those with a declaration in a header, by name.
// clang-format off
#define FOREBAY_LIBC_FUNCTIONS(X)                                                                            \
  X(open) X(openat) X(creat) X(open_by_handle_at) X(mkostemps)                                               \
  X(read) X(write) X(pread) X(pwrite) X(readv) X(writev) X(preadv) X(pwritev) X(preadv2) X(pwritev2)         \
  X(lseek) X(close) X(close_range) X(dup) X(dup2) X(dup3) X(fcntl) X(flock) X(lockf) X(ioctl)                \
  X(ftruncate) X(truncate) X(fallocate) X(posix_fallocate) X(fsync) X(fdatasync) X(sync) X(syncfs)           \
  X(sync_file_range) X(posix_fadvise) X(readahead)                                                           \
  X(stat) X(lstat) X(fstat) X(fstatat) X(statx)                                                              \
  X(rename) X(renameat) X(renameat2) X(link) X(linkat) X(unlink) X(unlinkat) X(remove)                       \
  X(utime) X(utimes) X(lutimes) X(futimes) X(futimesat) X(utimensat) X(futimens)                             \
  X(mmap) X(munmap) X(mprotect) X(mremap) X(sendfile) X(splice) X(copy_file_range)                                 \
  X(fopen) X(fdopen) X(freopen) X(fclose) X(pclose) X(tmpfile) X(vdprintf)                                             \
  X(execve) X(execvpe) X(execveat) X(fexecve) X(posix_spawn) X(posix_spawnp) X(_exit)                        \
  X(posix_spawn_file_actions_init) X(posix_spawn_file_actions_addopen) X(posix_spawn_file_actions_destroy)    \
  X(posix_spawn_file_actions_addchdir_np) X(posix_spawn_file_actions_addfchdir_np)                                    \
  X(chmod) X(fchmod) X(fchmodat) X(chown) X(lchown) X(fchown) X(fchownat) X(setrlimit) X(prlimit) X(pkey_mprotect) X(shmdt)                           \
  X(inotify_add_watch) X(fanotify_mark) X(backtrace_symbols_fd) X(closedir) X(daemon) X(login_tty)                        \
  X(sigaction) X(pidfd_spawn) X(pidfd_spawnp) X(system) X(popen) X(nftw) X(ftw) X(fts_read) X(fts_children)                                  \
  X(aio_read) X(aio_write) X(aio_fsync) X(lio_listio) X(pthread_create) X(chdir) X(fchdir) X(syscall)
// clang-format on

namespace forebay::posix {

// A function is found when it is called first, for every process of a tree pays for its start: until then the
// pointer leads to one that does so. Those that handlers of signals call are found when the first handler is
// set.
struct Libc {
#define FOREBAY_DECLARE(name) decltype(&::name) name;
  FOREBAY_LIBC_FUNCTIONS(FOREBAY_DECLARE)
#undef FOREBAY_DECLARE
  void find_for_handlers();
};
extern constinit Libc real;

// Makes `name` another exported name of `function`, which has C linkage. Headers declare many of these names
// with attributes of their own, so that they cannot be defined directly.
#define FOREBAY_EXPORT(name, function) \
  asm(".globl " #name "\n.type " #name ", @function\n.set " #name ", " #function "\n")

#define FOREBAY_CALL extern "C" __attribute__((used, visibility("hidden")))

}  // namespace forebay::posix
