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

// Rights that are taken away while a file is open, or while something of it is unsaved. To be run by somebody
// who is not allowed everything.
int rights() {
  char room[64] = {};
  int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "before", 6));
  say("fchmod", ::fchmod(fd, 0));
  say("write", ::write(fd, " and after", 10));
  say("read", ::pread(fd, room, sizeof room, 0));
  std::printf("%s\n", room);
  say("again", ::open("a", O_RDONLY));
  say("cut", ::open("a", O_WRONLY | O_TRUNC));
  say("truncate", ::truncate("a", 1));
  say("access", ::access("a", R_OK));
  say("faccessat", ::faccessat(AT_FDCWD, "a", W_OK, AT_EACCESS));
  say("there", ::faccessat(AT_FDCWD, "a", F_OK, 0));
  show_mode("a");
  say("ftruncate", ::ftruncate(fd, 12));
  say("fsync", ::fsync(fd));
  say("write", ::write(fd, "!", 1));
  say("rename", ::rename("a", "b"));
  say("write", ::write(fd, "!", 1));
  say("close", ::close(fd));
  say("again", ::open("b", O_RDONLY));
  say("chmod", ::chmod("b", 0600));
  show_file("b");

  fd = ::open("c", O_RDWR | O_CREAT, 0);
  say("write", ::write(fd, "for nobody", 10));
  say("again", ::open("c", O_RDWR));
  say("exclusive", ::open("c", O_RDWR | O_CREAT | O_EXCL, 0644));
  say("close", ::close(fd));
  say("unlink", ::link("c", "d") == 0 ? ::unlink("c") : -1);
  say("chmod", ::chmod("d", 0400));
  show_file("d");
  say("write only", ::open("d", O_WRONLY));
  say("truncate", ::truncate("d", 0));
  say("utimensat", ::utimensat(AT_FDCWD, "d", nullptr, 0));

  // Whoever had it open before may go on.
  fd = ::open("e", O_RDWR | O_CREAT, 0644);
  const int reader = ::open("e", O_RDONLY);
  say("write", ::write(fd, "text", 4));
  say("chmod", ::chmod("e", 0200));
  say("write", ::write(fd, " more", 5));
  say("read", ::read(reader, room, sizeof room));
  say("again", ::open("e", O_RDONLY));
  const int writer = ::open("e", O_WRONLY | O_APPEND);
  say("append", ::write(writer, "!", 1));
  say("size", ::lseek(reader, 0, SEEK_END));
  say("close", ::close(fd));
  say("close", ::close(writer));
  say("close", ::close(reader));
  say("chmod", ::chmod("e", 0644));
  show_file("e");

  say("mkdir", ::mkdir("folder", 0755));
  fd = ::open("folder/a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  say("chmod", ::chmod("folder", 0555));
  say("write", ::write(fd, " more", 5));
  say("unlink", ::unlink("folder/a"));
  say("rename", ::rename("folder/a", "out"));
  say("rename", ::rename("e", "folder/in"));
  say("link", ::link("folder/a", "folder/b"));
  say("new", ::open("folder/new", O_RDWR | O_CREAT, 0644));
  say("nameless", ::open("folder", O_TMPFILE | O_RDWR, 0644));
  say("truncate", ::truncate("folder/a", 6));
  show_file("folder/a");
  say("chmod", ::chmod("folder", 0));
  say("write", ::write(fd, " still", 6));
  show_mode("folder/a");
  say("again", ::open("folder/a", O_RDONLY));
  say("unlink", ::unlink("folder/a"));
  say("truncate", ::truncate("folder/a", 2));
  say("fsync", ::fsync(fd));
  say("close", ::close(fd));
  say("chmod", ::chmod("folder", 0755));
  show_file("folder/a");
  return 0;
}

}  // namespace cases
