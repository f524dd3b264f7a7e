// Times that were set, and ends of files that home does not know yet.
#include <sys/file.h>
#include <sys/stat.h>

#include <cstring>

#include "cases/cases.hpp"

namespace cases {
namespace {

constexpr time_t kLongAgo = 1'000'000'000;

long is_long_ago(int fd) {
  struct stat found{};
  if (::fstat(fd, &found) != 0) return -1;
  return found.st_mtim.tv_sec == kLongAgo ? 1 : 0;
}

void set_time(int fd) {
  const timespec times[2] = {{kLongAgo, 5}, {kLongAgo, 7}};
  say("futimens", ::futimens(fd, times));
}

}  // namespace

// A lock makes the buffer look at home, which has the time that was set before the last write.
int times_set() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  set_time(fd);
  say("set", is_long_ago(fd));
  say("write", ::write(fd, "hello", 5));
  say("written", is_long_ago(fd));
  say("flock", ::flock(fd, LOCK_EX | LOCK_NB));
  say("locked", is_long_ago(fd));
  say("unlock", ::flock(fd, LOCK_UN));
  say("unlocked", is_long_ago(fd));
  set_time(fd);
  say("flock", ::flock(fd, LOCK_SH | LOCK_NB));
  say("set and locked", is_long_ago(fd));
  say("write", ::write(fd, "more", 4));
  set_time(fd);
  say("set while unsaved", is_long_ago(fd));
  say("write", ::write(fd, "and more", 8));
  say("flock", ::flock(fd, LOCK_EX | LOCK_NB));
  say("written and locked", is_long_ago(fd));
  const int reader = ::open("a", O_RDONLY | O_TRUNC);
  set_time(reader);
  say("pwrite", ::pwrite(fd, "once more", 9, 100));
  say("flock", ::flock(fd, LOCK_SH | LOCK_NB));
  say("set through a reader", is_long_ago(fd));
  // Reserving inside of the file changes nothing but its time.
  say("write", ::write(fd, "unsaved", 7));
  set_time(fd);
  say("fallocate", ::fallocate(fd, 0, 0, 3));
  say("set and reserved", is_long_ago(fd));
  say("close", ::close(reader));
  say("close", ::close(fd));
  return 0;
}

namespace {

// Says whether the times of "a" are others than at the last look.
void look_at_times(const char* after) {
  static struct stat before{};
  struct stat found{};
  say(after, ::stat("a", &found));
  const auto same = [](const timespec& one, const timespec& two) {
    return one.tv_sec == two.tv_sec && one.tv_nsec == two.tv_nsec;
  };
  std::printf("  mtime %s, ctime %s\n", same(before.st_mtim, found.st_mtim) ? "the same" : "another",
              same(before.st_ctim, found.st_ctim) ? "the same" : "another");
  before = found;
  // Longer than a tick of the kernel's clock.
  ::usleep(15'000);
}

}  // namespace

// What has happened to a file (tar and git ask for it): the drain is nothing that happened.
int change_times() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  look_at_times("made");
  say("write", ::write(fd, "hello", 5));
  look_at_times("written");
  ::fsync(fd);
  look_at_times("synced");
  say("write", ::write(fd, "hello", 5));
  look_at_times("written again");
  say("fchmod", ::fchmod(fd, 0600));
  look_at_times("mode");
  say("chown", ::chown("a", ::geteuid(), ::getegid()));
  look_at_times("owner");
  const int other = ::open("a", O_RDONLY);
  char room[10];
  say("read", ::pread(other, room, sizeof room, 0));
  look_at_times("read");
  set_time(fd);
  look_at_times("time set");
  ::fsync(fd);
  look_at_times("synced");
  say("close", ::close(other));
  say("write", ::write(fd, "hello", 5));
  look_at_times("written");
  say("close", ::close(fd));
  look_at_times("closed");
  for (int i = 0; i < 20; ++i) ::usleep(10'000);  // the drain, where the close does not wait for it
  look_at_times("later");
  say("chmod", ::chmod("a", 0644));
  look_at_times("mode");
  say("rename", ::rename("a", "b"));
  say("rename", ::rename("b", "a"));
  look_at_times("renamed");
  const int again = ::open("a", O_WRONLY);
  say("write", ::write(again, "more", 4));
  say("rename", ::rename("a", "b"));
  say("rename", ::rename("b", "a"));
  look_at_times("written and renamed");
  ::fsync(again);
  look_at_times("synced");
  say("close", ::close(again));
  show_file("a");
  return 0;
}

// Streams that append are told where the end is when they are opened.
int streams_at_the_end() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "hello", 5));
  FILE* stream = std::fopen("a", "a");
  say("fopen a", std::ftell(stream));
  say("longer", ::ftruncate(fd, 300'000));
  stream = std::freopen("a", "a", stream);
  say("freopen a", std::ftell(stream));
  say("fputs", std::fputs("more", stream) < 0 ? -1 : 0);
  say("put", std::ftell(stream));
  say("fclose", std::fclose(stream));
  stream = std::fopen("a", "a+");
  say("fopen a+", std::ftell(stream));
  say("fclose", std::fclose(stream));
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

}  // namespace cases
