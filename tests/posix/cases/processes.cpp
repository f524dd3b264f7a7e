// Children that have their parent's memory, and descriptors that are closed and replaced by number.
#include <spawn.h>
#include <sys/wait.h>

#include <cstring>

#include "cases/cases.hpp"

extern char** environ;

namespace cases {
namespace {

long ended(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void show_open(const char* when) {
  std::printf("%s:", when);
  for (int fd = 0; fd < 64; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) std::printf(" %d", fd);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int vforked() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  const int other = ::open("b", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "parent ", 7));
  // A child that closes, replaces and opens, and then runs something that writes to what it left.
  pid_t child = ::vfork();
  if (child == 0) {
    ::close(other);
    ::dup2(fd, 1);
    ::close(fd);
    const int made = ::open("c", O_RDONLY | O_CREAT, 0644);
    ::close(made);
    ::execlp("printf", "printf", "child ", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  say("child", ended(child));
  say("write", ::write(fd, "parent again", 12));
  say("write", ::write(other, "other", 5));
  // One that ends without running anything, and one that cannot run what it wants.
  child = ::vfork();
  if (child == 0) {
    ::close(fd);
    ::_exit(3);
  }
  say("child", ended(child));
  child = ::vfork();
  if (child == 0) {
    ::execl("/nowhere/at/all", "all", static_cast<char*>(nullptr));
    ::_exit(4);
  }
  say("child", ended(child));
  say("write", ::pwrite(fd, "P", 1, 0));
  char room[64] = {};
  say("read", ::pread(fd, room, sizeof room, 0));
  std::printf("%s\n", room);
  say("close", ::close(fd));
  say("close", ::close(other));
  show_file("a");
  show_file("b");
  show_file("c");
  return 0;
}

// The program's numbers are its own: those that others use are not among them, and closing everything hits
// nobody else.
int descriptors() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("first", fd);
  say("write", ::write(fd, "text", 4));
  show_open("open");
  for (int i = 3; i < 64; ++i) {
    if (i != fd) ::close(i);
  }
  show_open("closed");
  for (int i = 10; i < 40; ++i) say("dup2", ::dup2(fd, i));
  for (int i = 10; i < 40; ++i) {
    char text[8];
    const int length = std::snprintf(text, sizeof text, "%d ", i);
    if (::write(i, text, static_cast<std::size_t>(length)) != length) say("write", -1);
  }
  show_open("duplicated");
  ::closefrom(20);
  show_open("closed from 20");
  say("write", ::write(11, "more", 4));
  const int b = ::open("b", O_RDWR | O_CREAT, 0644);
  say("second", b);
  say("write", ::write(b, "b", 1));
  say("dup2", ::dup2(b, 11));
  say("write", ::write(11, "B", 1));
  say("close_range", ::close_range(3, ~0U, 0));
  show_open("none");
  say("write", ::write(11, "x", 1));
  const int again = ::open("a", O_RDWR | O_APPEND);
  say("third", again);
  say("write", ::write(again, "end", 3));
  say("fsync", ::fsync(again));
  ::closefrom(3);
  show_file("a");
  show_file("b");
  return 0;
}

// What a spawned child's file actions open and truncate, while its parent has written to it.
int spawned() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "what is cut off", 15));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "a", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  char name[] = "printf";
  char text[] = "new";
  char* const words[] = {name, text, nullptr};
  pid_t child = 0;
  say("spawn", ::posix_spawnp(&child, "printf", &actions, nullptr, words, environ));
  say("child", ended(child));
  char room[64] = {};
  say("read", ::pread(fd, room, sizeof room, 0));
  std::printf("%s\n", room);
  say("size", ::lseek(fd, 0, SEEK_END));
  say("write", ::pwrite(fd, "er", 2, 3));
  // Of one that cannot be started the files are cut all the same, or are not: as the system has it.
  char nobody[] = "/nowhere/at/all";
  char* const none[] = {nobody, nullptr};
  say("spawn", ::posix_spawn(&child, nobody, nullptr, nullptr, none, environ));
  posix_spawn_file_actions_destroy(&actions);
  posix_spawn_file_actions_init(&actions);
  say("spawn", ::posix_spawnp(&child, "true", &actions, nullptr, words, environ));
  say("child", ended(child));
  posix_spawn_file_actions_destroy(&actions);
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

}  // namespace cases
