// What a process hears of files in a folder that it watches itself.
#include <sys/inotify.h>
#include <sys/stat.h>

#include <cstring>

#include "cases/cases.hpp"

namespace cases {
namespace {

void hear(int watch, const char* of) {
  alignas(inotify_event) char room[8192];
  std::printf("%s:", of);
  for (ssize_t n = 0; (n = ::read(watch, room, sizeof room)) > 0;) {
    for (ssize_t at = 0; at < n;) {
      inotify_event event;
      std::memcpy(&event, room + at, sizeof event);
      std::printf(" %x %s", event.mask, event.len != 0 ? room + at + sizeof event : "");
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int watched() {
  char one[1];
  const int before = ::open("before", O_RDWR | O_CREAT, 0644);
  say("write", ::write(before, "staged", 6));
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  say("watch", ::inotify_add_watch(watch, ".", IN_ALL_EVENTS));
  hear(watch, "nothing yet");
  say("write", ::write(before, "heard", 5));
  hear(watch, "write");
  say("pread", ::pread(before, one, 1, 0));
  hear(watch, "pread");
  say("close", ::close(before));
  hear(watch, "close");
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  hear(watch, "open");
  say("write", ::write(fd, "text", 4));
  hear(watch, "write");
  say("write", ::write(fd, "text", 4));
  hear(watch, "write");
  say("ftruncate", ::ftruncate(fd, 2));
  hear(watch, "ftruncate");
  say("fchmod", ::fchmod(fd, 0600));
  hear(watch, "fchmod");
  say("close", ::close(fd));
  hear(watch, "close");
  say("rename", ::rename("a", "b"));
  hear(watch, "rename");
  say("unlink", ::unlink("b"));
  hear(watch, "unlink");
  const int appends = ::open("c", O_WRONLY | O_CREAT | O_APPEND, 0644);
  hear(watch, "open to append");
  say("write", ::write(appends, "text", 4));
  hear(watch, "append");
  say("close", ::close(appends));
  hear(watch, "close");
  ::close(watch);
  // One file, by its name.
  const int other = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  say("watch", ::inotify_add_watch(other, "c", IN_MODIFY | IN_CLOSE));
  const int again = ::open("c", O_RDWR);
  say("write", ::pwrite(again, "TEXT", 4, 2));
  hear(other, "write");
  say("close", ::close(again));
  hear(other, "close");
  ::close(other);
  show_file("before");
  show_file("c");
  return 0;
}

}  // namespace cases
