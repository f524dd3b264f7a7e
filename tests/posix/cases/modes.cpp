// Files whose mode says more than who may read and write them.
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "cases/cases.hpp"

namespace cases {
namespace {

void show_mode(const char* path) {
  struct stat found{};
  const int result = ::stat(path, &found);
  std::printf("%s: ", path);
  say("mode", result < 0 ? result : static_cast<long>(found.st_mode));
}

}  // namespace

// What is written before a mode is set does not take it away later; and what nobody may write was written.
int modes() {
  int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  say("fchmod", ::fchmod(fd, 04755));
  say("close", ::close(fd));
  show_mode("a");
  fd = ::open("b", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  say("chmod", ::chmod("b", 02755));
  say("close", ::close(fd));
  show_mode("b");
  fd = ::open("b", O_RDWR);
  say("write", ::write(fd, "TEXT", 4));
  say("close", ::close(fd));
  show_mode("b");
  fd = ::open("c", O_WRONLY | O_CREAT, 0444);
  say("write", ::write(fd, "read only", 9));
  const int again = ::open("c", O_WRONLY);
  say("again", again < 0 ? -1 : 0);
  say("close", ::close(fd));
  show_mode("c");
  show_file("c");
  fd = ::open("d", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  say("fchmodat", ::fchmodat(AT_FDCWD, "d", 0, 0));
  say("write", ::write(fd, " more", 5));
  say("close", ::close(fd));
  say("chmod", ::chmod("d", 0644));
  show_file("d");
  fd = ::open("e", O_WRONLY | O_CREAT, 0200);
  say("write", ::write(fd, "write only", 10));
  say("size", ::lseek(fd, 0, SEEK_END));
  say("close", ::close(fd));
  say("chmod", ::chmod("e", 0644));
  show_file("e");
  fd = ::open("f", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  say("fsetxattr", ::fsetxattr(fd, "user.forebay", "value", 5, 0));
  char room[16] = {};
  say("getxattr", ::getxattr("f", "user.forebay", room, sizeof room));
  say("fchown", ::fchown(fd, ::geteuid(), ::getegid()));
  say("close", ::close(fd));
  show_file("f");
  return 0;
}

}  // namespace cases
