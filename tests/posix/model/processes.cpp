// Children and other programs that use what a process has open.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "model/call.hpp"

extern char** environ;

namespace model {
namespace {

// A child that uses its parent's descriptors and goes.
std::string op_fork(Call& call) {
  const int fd = call.fd();
  const auto data = bytes(call.next(), call.length());
  const bool vforks = call.next() % 4 == 0;
  const pid_t child = vforks ? ::vfork() : ::fork();
  if (child == 0) {
    if (vforks) {
      ::close(fd);
      ::_exit(7);
    }
    const auto n = ::write(fd, data.data(), data.size() - 1);
    ::_exit(n == static_cast<ssize_t>(data.size() - 1) ? 1 : n < 0 ? 100 + errno % 100 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return " child " + std::to_string(status) + said(::lseek(fd, 0, SEEK_CUR));
}

// Another program that inherits one.
std::string op_spawn(Call& call) {
  const int fd = call.fd();
  if (fd < 0) return " none";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, fd, 1);
  const auto words = "w" + std::to_string(call.next());
  char* const argv[] = {const_cast<char*>("echo"), const_cast<char*>(words.c_str()), nullptr};
  pid_t child = 0;
  int status = ::posix_spawn(&child, "/bin/echo", &actions, nullptr, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (status != 0) return " not " + std::to_string(status);
  ::waitpid(child, &status, 0);
  return " child " + std::to_string(status) + said(::lseek(fd, 0, SEEK_CUR));
}

// Ordinary programs beside this one, by name and by descriptors that they inherit.
std::string op_shell(Call& call) {
  const auto one = call.name();
  const auto two = call.name();
  const auto fd = std::to_string(std::max(call.fd(), 0));
  const auto commands = {"cat " + one + " | cksum", "cat " + one + " >> " + two, "cp " + one + " " + two,
                         "mv " + one + " " + two, "truncate -s 777 " + one,
                         "dd if=" + one + " of=" + two + " bs=1000 count=3 seek=2 conv=notrunc status=none",
                         "tail -c 50 " + one + " | cksum", "stat -c '%s %h' " + one,
                         "ln -f " + one + " " + two, "echo text > " + one, "echo text >> /dev/fd/" + fd,
                         "head -c 20 <&" + fd + " | cksum", "sort " + one + " -o " + two,
                         // By a name from elsewhere, in processes that have seen nothing yet.
                         "ln -sfn \"$PWD\" \"$PWD.link\"; stat -c %s \"$PWD.link/" + one + "\"",
                         "truncate -s 333 \"$PWD.link/" + one + "\"; cksum < " + one,
                         "mv \"$PWD.link/" + one + "\" \"$PWD.link/" + two + "\"",
                         "rm \"$PWD.link/" + one + "\"; test -e " + one};
  const auto command = call.pick<std::string>(commands);
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "re");
  if (pipe == nullptr) return said(-1);
  char room[300];
  const auto n = ::fread(room, 1, sizeof room - 1, pipe);
  const int status = ::pclose(pipe);
  // What a program says against it names itself and may differ; that it does must not.
  std::string text = " " + command + " status " + std::to_string(status);
  if (status == 0) text += " said " + std::to_string(hash(room, n));
  return text;
}

// The worker itself once more, with what it has open.
std::string op_exec(Call&) {
  std::string text;
  for (auto*& stream : streams) {
    if (stream != nullptr) text += said(::fclose(stream));
    stream = nullptr;
  }
  executes = true;
  return text;
}

constexpr Named kTable[] = {
    {"exec", op_exec},
    {"fork", op_fork},
    {"spawn", op_spawn},
    {"shell", op_shell},
};

}  // namespace

std::span<const Named> processes() { return kTable; }

}  // namespace model
