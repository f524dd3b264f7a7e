// The shim's own functions, for those of its files that make another's call. Each is what a program reaches
// under the C library's name.
#pragma once

#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <utime.h>

extern "C" {
int fb_open(const char* path, int flags, ...);
int fb_openat(int at, const char* path, int flags, ...);
int fb_creat(const char* path, mode_t mode);
ssize_t fb_read(int fd, void* to, size_t size);
ssize_t fb_write(int fd, const void* from, size_t size);
ssize_t fb_pread(int fd, void* to, size_t size, off_t offset);
ssize_t fb_pwrite(int fd, const void* from, size_t size, off_t offset);
ssize_t fb_readv(int fd, const iovec* pieces, int count);
ssize_t fb_writev(int fd, const iovec* pieces, int count);
ssize_t fb_preadv2(int fd, const iovec* pieces, int count, off_t offset, int flags);
ssize_t fb_pwritev2(int fd, const iovec* pieces, int count, off_t offset, int flags);
off_t fb_lseek(int fd, off_t offset, int whence);
int fb_close(int fd);
int fb_close_range(unsigned first, unsigned last, int flags);
int fb_dup(int fd);
int fb_dup2(int from, int to);
int fb_dup3(int from, int to, int flags);
int fb_fcntl(int fd, int command, ...);
int fb_flock(int fd, int operation);
int fb_ioctl(int fd, unsigned long request, ...);
int fb_ftruncate(int fd, off_t size);
int fb_truncate(const char* path, off_t size);
int fb_fallocate(int fd, int mode, off_t offset, off_t length);
int fb_fsync(int fd);
int fb_fdatasync(int fd);
void fb_sync();
int fb_syncfs(int fd);
int fb_sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags);
int fb_posix_fadvise(int fd, off_t offset, off_t length, int advice);
ssize_t fb_readahead(int fd, off64_t offset, size_t count);
int fb_stat(const char* path, struct stat* found);
int fb_lstat(const char* path, struct stat* found);
int fb_fstat(int fd, struct stat* found);
int fb_fstatat(int at, const char* path, struct stat* found, int flags);
int fb_statx(int at, const char* path, int flags, unsigned mask, struct statx* found);
int fb_unlink(const char* path);
int fb_unlinkat(int at, const char* path, int flags);
int fb_rename(const char* from, const char* to);
int fb_renameat(int from_at, const char* from, int to_at, const char* to);
int fb_renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags);
int fb_link(const char* from, const char* to);
int fb_linkat(int from_at, const char* from, int to_at, const char* to, int flags);
int fb_utimensat(int at, const char* path, const timespec times[2], int flags);
int fb_utime(const char* path, const utimbuf* times);
int fb_chmod(const char* path, mode_t mode);
int fb_fchmod(int fd, mode_t mode);
int fb_fchmodat(int at, const char* path, mode_t mode, int flags);
int fb_chown(const char* path, uid_t user, gid_t group);
int fb_lchown(const char* path, uid_t user, gid_t group);
int fb_fchown(int fd, uid_t user, gid_t group);
int fb_fchownat(int at, const char* path, uid_t user, gid_t group, int flags);
int fb_chdir(const char* path);
int fb_fchdir(int fd);
void* fb_mmap(void* at, size_t length, int protection, int flags, int fd, off_t offset);
int fb_munmap(void* at, size_t length);
int fb_mprotect(void* at, size_t length, int protection);
int fb_pkey_mprotect(void* at, size_t length, int protection, int key);
int fb_shmdt(const void* at);
void* fb_mremap(void* at, size_t length, size_t wanted, int flags, ...);
ssize_t fb_sendfile(int out, int in, off_t* offset, size_t count);
ssize_t fb_splice(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size, unsigned flags);
ssize_t fb_copy_file_range(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size,
                           unsigned flags);
int fb_execve(const char* path, char* const* arguments, char* const* environment);
int fb_execveat(int at, const char* path, char* const* arguments, char* const* environment, int flags);
int fb_setrlimit(__rlimit_resource resource, const rlimit* limit);
int fb_prlimit(pid_t process, __rlimit_resource resource, const rlimit* limit, rlimit* old);
int fb_inotify_add_watch(int fd, const char* path, uint32_t mask);
int fb_fanotify_mark(int fd, unsigned flags, uint64_t mask, int at, const char* path);
void fb__exit(int code);
}

namespace forebay::posix {

// Before the kernel is given these controls of its own asynchronous I/O (struct iocb): their files are used
// at home only. False: that cannot be (errno is set).
bool before_submitting(long count, void* controls);

// From now on all files of the process are used at home only.
void stop_buffering(const char* why);
// The same, if some of this process's files are served already: those that come are looked at when they are
// opened.
void stop_buffering_if_loaded(const char* why);

}  // namespace forebay::posix
