// Sizes: how far a file may reach, what a process may write, what is reserved, cut out and put in.
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <initializer_list>

#include "cases/cases.hpp"

namespace cases {
namespace {

volatile std::sig_atomic_t signals = 0;

void show_reads(int fd, off_t offset) {
  char room[6000] = {};
  unsigned sum = 0;
  const auto n = ::pread(fd, room, sizeof room, offset);
  for (ssize_t i = 0; i < n; ++i) sum = sum * 31 + static_cast<unsigned char>(room[i]);
  say("read", n);
  std::printf("%08x\n", sum);
}

}  // namespace

int far_offsets() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  constexpr off_t kFar = 0x7fff'ffff'ffff'ff00;
  say("write", ::write(fd, "text", 4));
  say("too far", ::pwrite(fd, "text", 4, kFar));
  say("too far", ::pwrite(fd, "text", 4, off_t{1} << 60));
  say("over the end", ::pwrite(fd, "text", 4, 0x7fff'ffff'ffff'fffe));
  say("read there", [&] {
    char room[8];
    return ::pread(fd, room, sizeof room, off_t{1} << 60);
  }());
  say("seek", ::lseek(fd, kFar, SEEK_SET) < 0 ? -1 : 0);
  say("seek", ::lseek(fd, kFar, SEEK_END) < 0 ? -1 : 0);
  say("seek", ::lseek(fd, 0x7fff'ffff'ffff'ffff, SEEK_END) < 0 ? -1 : 0);
  say("seek", ::lseek(fd, -5, SEEK_END));
  say("seek", ::lseek(fd, 0, 77));
  say("position", ::lseek(fd, 0, SEEK_CUR));
  say("truncate", ::ftruncate(fd, off_t{1} << 62));
  say("truncate", ::ftruncate(fd, -1));
  say("far, but possible", ::pwrite(fd, "text", 4, off_t{5} << 32));
  say("size", ::lseek(fd, 0, SEEK_END));
  say("data", ::lseek(fd, 1 << 20, SEEK_DATA) > (off_t{1} << 32));
  say("hole", ::lseek(fd, off_t{5} << 32, SEEK_HOLE));
  show_reads(fd, (off_t{5} << 32) - 10);
  say("truncate", ::ftruncate(fd, 100));
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

// A limit that comes when files are open already.
int limited() {
  std::signal(SIGXFSZ, [](int) { signals = signals + 1; });
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  char text[5000];
  std::memset(text, 't', sizeof text);
  say("write", ::write(fd, text, sizeof text));
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 8000;
  say("setrlimit", ::setrlimit(RLIMIT_FSIZE, &limit));
  say("short", ::write(fd, text, sizeof text));
  say("none", ::write(fd, text, sizeof text));
  say("signals", signals);
  say("below", ::pwrite(fd, "T", 1, 0));
  say("above", ::pwrite(fd, "T", 1, 9000));
  say("truncate", ::ftruncate(fd, 10000));
  say("signals", signals);
  const int other = ::open("b", O_WRONLY | O_CREAT | O_APPEND, 0644);
  say("append", ::write(other, text, sizeof text));
  say("append", ::write(other, text, sizeof text));
  say("append", ::write(other, text, sizeof text));
  say("signals", signals);
  limit.rlim_cur = limit.rlim_max;
  say("setrlimit", ::setrlimit(RLIMIT_FSIZE, &limit));
  say("append", ::write(other, text, sizeof text));
  say("close", ::close(other));
  say("close", ::close(fd));
  show_file("a");
  show_file("b");
  return 0;
}

int allocated() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  char text[40000];
  for (std::size_t i = 0; i < sizeof text; ++i) text[i] = static_cast<char>('a' + i % 23);
  say("write", ::write(fd, text, sizeof text));
  show_reads(fd, 0);
  struct {
    const char* name;
    int mode;
    off_t offset, length;
  } const steps[] = {{"inside", 0, 100, 200},
                     {"beyond", 0, 39000, 3000},
                     {"keeping the size", FALLOC_FL_KEEP_SIZE, 42000, 9000},
                     {"a hole", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4000, 9000},
                     {"a hole without the flag", FALLOC_FL_PUNCH_HOLE, 4000, 9000},
                     {"zeros", FALLOC_FL_ZERO_RANGE, 20000, 100},
                     {"zeros beyond", FALLOC_FL_ZERO_RANGE, 41000, 5000},
                     {"cut out", FALLOC_FL_COLLAPSE_RANGE, 4096, 8192},
                     {"cut out at no block", FALLOC_FL_COLLAPSE_RANGE, 100, 8192},
                     {"put in", FALLOC_FL_INSERT_RANGE, 8192, 4096},
                     {"nothing", 0, 0, 0},
                     {"before the beginning", 0, -1, 5},
                     {"no mode at all", 0x1000, 0, 5}};
  for (const auto& step : steps) {
    say(step.name, ::fallocate(fd, step.mode, step.offset, step.length));
    say("size", ::lseek(fd, 0, SEEK_END));
    for (const off_t at : {0, 6000, 12000, 19000, 38000}) show_reads(fd, at);
    say("write", ::pwrite(fd, step.name, std::strlen(step.name), step.offset >= 0 ? step.offset + 7 : 0));
    show_reads(fd, 0);
  }
  say("posix", ::posix_fallocate(fd, 50000, 5000));
  say("size", ::lseek(fd, 0, SEEK_END));
  say("posix", ::posix_fallocate(fd, 0, 0));
  int left = 0;
  ::lseek(fd, 54000, SEEK_SET);
  say("write", ::pwrite(fd, "end", 3, 60000));
  say("left to read", ::ioctl(fd, FIONREAD, &left));
  say("bytes", left);
  const int reader = ::open("a", O_RDONLY);
  say("reader", ::fallocate(reader, 0, 0, 100));
  say("reader", ::posix_fallocate(reader, 0, 100));
  say("reader", ::ftruncate(reader, 5));
  say("readahead", ::readahead(reader, 0, 100));
  const int writer = ::open("a", O_WRONLY);
  say("readahead", ::readahead(writer, 0, 100));
  say("sync a reader", ::fsync(reader));
  // Shorter at home, for all who have it open.
  say("cut out", ::fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 4096, 8192));
  say("size", ::lseek(fd, 0, SEEK_END));
  say("size", ::lseek(reader, 0, SEEK_END));
  show_reads(reader, 50000);
  say("sync_file_range", ::sync_file_range(fd, 0, 100, SYNC_FILE_RANGE_WRITE));
  say("sync_file_range", ::sync_file_range(fd, -1, 100, SYNC_FILE_RANGE_WRITE));
  say("posix_fadvise", ::posix_fadvise(fd, 0, 0, 77));
  say("close", ::close(writer));
  say("close", ::close(reader));
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

namespace {

// Can another process lock it?
long others_may_lock(const char* path, int command) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(path, O_RDWR);
    struct flock lock{};
    lock.l_type = F_WRLCK;
    const int result = command < 0 ? ::flock(fd, LOCK_EX | LOCK_NB) : ::fcntl(fd, command, &lock);
    ::_exit(result == 0 ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

long truncate_elsewhere(const char* path, off_t size) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::truncate(path, size) == 0 ? 0 : errno);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

void nothing(int) {}

}  // namespace

// By its name, while locks and leases are held: they are as they were.
int truncated_by_name() {
  std::signal(SIGIO, nothing);
  for (const int kind : {F_SETLK, F_OFD_SETLK, -1}) {
    const char* const name = kind == F_SETLK ? "a" : kind == -1 ? "c" : "b";
    const int fd = ::open(name, O_RDWR | O_CREAT, 0644);
    say("write", ::write(fd, "some text", 9));
    struct flock lock{};
    lock.l_type = F_WRLCK;
    say("lock", kind < 0 ? ::flock(fd, LOCK_EX) : ::fcntl(fd, kind, &lock));
    say("write", ::write(fd, " and more", 9));
    say("truncate", ::truncate(name, 4));
    say("others may lock", others_may_lock(name, kind));
    show_reads(fd, 0);
    say("longer", ::truncate(name, 40));
    say("others may lock", others_may_lock(name, kind));
    say("elsewhere", truncate_elsewhere(name, 6));
    say("others may lock", others_may_lock(name, kind));
    show_reads(fd, 0);
    say("write", ::pwrite(fd, "end", 3, 6));
    say("close", ::close(fd));
    say("others may lock", others_may_lock(name, kind));
    show_file(name);
  }
  // Open for reading only, with something unsaved by another descriptor, and by nobody.
  const int writer = ::open("d", O_RDWR | O_CREAT, 0644);
  const int reader = ::open("d", O_RDONLY);
  say("write", ::write(writer, "some text", 9));
  say("truncate", ::truncate("d", 4));
  show_reads(reader, 0);
  say("close", ::close(writer));
  say("truncate", ::truncate("d", 2));
  show_reads(reader, 0);
  say("lease", ::fcntl(reader, F_SETLEASE, F_RDLCK));
  say("released", ::fcntl(reader, F_SETLEASE, F_UNLCK));
  say("close", ::close(reader));
  say("truncate", ::truncate("d", 1));
  say("negative", ::truncate("d", -1));
  say("nothing", ::truncate("nothing", 1));
  say("folder", ::truncate(".", 1));
  show_file("d");
  return 0;
}

}  // namespace cases
