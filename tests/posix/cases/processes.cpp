// Children that have their parent's memory, and descriptors that are closed and replaced by number.
#include <pty.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utmp.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

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

// Appending switched on and off for all who have the open file.
int appending() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "0123456789", 10));
  int to_child[2];
  int to_parent[2];
  if (::pipe(to_child) != 0 || ::pipe(to_parent) != 0) return 1;
  char one = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    (void)!::pwrite(fd, "c", 1, 1);
    (void)!::write(to_parent[1], "x", 1);
    (void)!::read(to_child[0], &one, 1);
    (void)!::write(fd, "child", 5);
    (void)!::pwrite(fd, "C", 1, 0);
    ::_exit(0);
  }
  say("first", ::read(to_parent[0], &one, 1));
  say("append", ::fcntl(fd, F_SETFL, O_APPEND));
  say("seek", ::lseek(fd, 3, SEEK_SET));
  (void)!::write(to_child[1], "x", 1);
  say("child", ended(child));
  say("pwrite", ::pwrite(fd, "parent", 6, 2));
  say("position", ::lseek(fd, 0, SEEK_CUR));
  const int again = ::open("a", O_RDWR);
  say("write", ::write(again, "begin", 5));
  say("no more", ::fcntl(fd, F_SETFL, 0));
  say("pwrite", ::pwrite(fd, "P", 1, 7));
  say("close", ::close(again));
  say("close", ::close(fd));
  show_file("a");
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
  // The same by the functions that answer with a descriptor of the child.
  for (const bool by_path : {true, false}) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "a", O_WRONLY | O_TRUNC, 0);
    say("write", ::pwrite(fd, "cut off again", 13, 0));
    int pidfd = -1;
    say("spawn", by_path ? ::pidfd_spawn(&pidfd, "/usr/bin/printf", &actions, nullptr, words, environ)
                         : ::pidfd_spawnp(&pidfd, "printf", &actions, nullptr, words, environ));
    siginfo_t end{};
    say("child", ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &end, WEXITED) == 0 ? end.si_status : -1);
    say("close", ::close(pidfd));
    say("size", ::lseek(fd, 0, SEEK_END));
    posix_spawn_file_actions_destroy(&actions);
  }
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

// Programs that are started without the library find what their parent has written, by whichever function it
// starts them, and what it hands on.
int spawned_unseen() {
  const int fd = ::open("a", O_RDWR | O_CREAT | O_APPEND, 0644);
  ::unsetenv("LD_PRELOAD");
  char name[] = "cat";
  char file[] = "a";
  char* const words[] = {name, file, nullptr};
  pid_t child = 0;
  int pidfd = -1;
  say("write", ::write(fd, "1", 1));
  // It writes to the same place as this one: nothing is said before it has ended.
  int spawned = ::posix_spawn(&child, "/bin/cat", nullptr, nullptr, words, environ);
  say("child", ended(child));
  say("posix_spawn", spawned);
  say("write", ::write(fd, "2", 1));
  spawned = ::pidfd_spawnp(&pidfd, "cat", nullptr, nullptr, words, environ);
  siginfo_t end{};
  say("child", ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &end, WEXITED));
  say("pidfd_spawnp", spawned);
  ::close(pidfd);
  say("write", ::write(fd, "3", 1));
  say("system", std::system("cat a; printf shell >&3"));
  say("write", ::write(fd, "4", 1));
  std::FILE* const pipe = ::popen("cat a", "r");
  char room[64] = {};
  say("popen", static_cast<long>(std::fread(room, 1, sizeof room - 1, pipe)));
  std::printf("%s\n", room);
  say("pclose", ::pclose(pipe));
  say("write", ::write(fd, "5", 1));
  if (::fork() == 0) {
    ::execvp("cat", words);
    ::_exit(127);
  }
  ::wait(nullptr);
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

// Its standard output, a file until then, is the terminal.
int on_a_terminal() {
  const int fd = ::open("a", O_RDWR | O_CREAT | O_TRUNC, 0644);
  const int before = ::dup(1);
  ::dup2(fd, 1);
  say("write", ::write(1, "file ", 5));
  int terminal = -1;
  int its_end = -1;
  ::openpty(&terminal, &its_end, nullptr, nullptr, nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    auto n = ::write(1, "child ", 6);
    ::login_tty(its_end);
    n = ::write(1, "terminal", 8);
    ::_exit(n == 8 ? 4 : 5);
  }
  ::close(its_end);
  char text[64] = "";
  const auto n = ::read(terminal, text, sizeof text - 1);
  const long code = ended(child);
  ::dup2(before, 1);
  std::printf("read %zd: %s, child %ld\n", n, text, code);
  std::fflush(stdout);
  ::close(terminal);
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

// The number of a pipe that the C library closed by itself comes back as that of a file.
int numbers_of_pipes() {
  int ends[2];
  ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  const int sent = ::open("a", O_RDWR | O_CREAT, 0644);
  union {
    cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control{};
  char letter = 'x';
  iovec piece{&letter, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.room;
  message.msg_controllen = sizeof control.room;
  control.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  std::memcpy(CMSG_DATA(&control.header), &sent, sizeof sent);
  say("sendmsg", ::sendmsg(ends[0], &message, 0));
  FILE* const pipe = ::popen("echo text", "r");
  char line[64] = "";
  std::printf("%s", std::fgets(line, sizeof line, pipe));
  const int number = ::fileno(pipe);
  say("pclose", ::pclose(pipe));
  message.msg_controllen = sizeof control.room;
  say("recvmsg", ::recvmsg(ends[1], &message, 0));
  int got = -1;
  std::memcpy(&got, CMSG_DATA(&control.header), sizeof got);
  say("the same number", got == number ? 1 : 0);
  say("pwrite", ::pwrite(sent, "written", 7, 0));
  char room[16] = "";
  say("pread", ::pread(got, room, sizeof room - 1, 0));
  std::printf("%s\n", room);
  std::fflush(stdout);
  return 0;
}

// A program that was written a moment ago, while somebody who only reads it has it open.
// Between two programs nobody has the file open in the buffer, and others come by.
int unnamed_across_exec() {
  const int other = ::open("other", O_WRONLY | O_CREAT, 0644);
  say("write", ::write(other, "other\n", 6));
  ::close(other);
  const int fd = ::open("gone", O_RDWR | O_CREAT, 0644);
  say("unlink", ::unlink("gone"));
  say("write", ::write(fd, "without a name\n", 15));
  say("lseek", ::lseek(fd, 0, SEEK_SET));
  say("dup2", ::dup2(fd, 3));
  ::execl("/bin/sh", "sh", "-c", "cat other; cat <&3", static_cast<char*>(nullptr));
  return 1;
}

int executed() {
  static constexpr char kText[] = "#!/bin/sh\nexit 7\n";
  for (const char* const name : {"one", "two"}) {
    const int writer = ::open(name, O_WRONLY | O_CREAT, 0755);
    const int reader = ::open(name, O_RDONLY);
    const int other = ::open(name, O_RDWR);
    say("write", ::write(writer, kText, sizeof kText - 1));
    say("close", ::close(writer));
    say("write", ::pwrite(other, kText, sizeof kText - 1, 0));
    say("close", ::close(other));
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl(name, name, static_cast<char*>(nullptr));
      ::_exit(errno == ETXTBSY ? 99 : 98);
    }
    say("child", ended(child));
    say("close", ::close(reader));
  }
  return 0;
}

}  // namespace cases
