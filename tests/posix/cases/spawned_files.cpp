// What the file actions of spawned children do to files, wherever they lead.
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstring>
#include <initializer_list>

#include "cases/cases.hpp"

extern char** environ;

namespace cases {
namespace {

struct Actions {
  posix_spawn_file_actions_t all;
  Actions() { ::posix_spawn_file_actions_init(&all); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { ::posix_spawn_file_actions_destroy(&all); }
  void truncate(const char* path, int fd = 1) {
    ::posix_spawn_file_actions_addopen(&all, fd, path, O_WRONLY | O_TRUNC, 0);
  }
  void run() {
    char name[] = "true";
    char* const words[] = {name, nullptr};
    pid_t child = 0;
    int status = 0;
    const int result = ::posix_spawnp(&child, name, &all, nullptr, words, environ);
    say("spawn", result);
    if (result == 0) say("child", ::waitpid(child, &status, 0) == child ? status : -1);
  }
};

int put(const char* path, const char* text) {
  const int fd = ::open(path, O_RDWR | O_CREAT, 0644);
  if (::pwrite(fd, text, std::strlen(text), 0) < 0) say(path, -1);
  return fd;
}

}  // namespace

int spawned_elsewhere() {
  ::mkdir("d", 0755);
  ::mkdir("e", 0755);
  const int a = put("a", "text of a");
  const int d = put("d/a", "text of d/a");
  const int e = put("e/a", "text of e/a");
  const auto show = [&] {
    for (const int fd : {a, d, e}) say("size", ::lseek(fd, 0, SEEK_END));
    show_file("a");
    show_file("d/a");
    show_file("e/a");
  };
  {
    Actions actions;
    ::posix_spawn_file_actions_addchdir_np(&actions.all, "d");
    actions.truncate("a");
    actions.run();
    show();
  }
  {
    Actions actions;
    const int folder = ::open("e", O_RDONLY | O_DIRECTORY);
    ::posix_spawn_file_actions_addfchdir_np(&actions.all, folder);
    actions.truncate("a");
    ::posix_spawn_file_actions_addchdir_np(&actions.all, "../d");
    actions.truncate("a", 0);
    (void)!::pwrite(d, "again", 5, 0);
    actions.run();
    ::close(folder);
    show();
  }
  // What comes after an action that fails is not done.
  (void)!::pwrite(e, "again", 5, 0);
  {
    Actions actions;
    ::posix_spawn_file_actions_addopen(&actions.all, 0, "none", O_RDONLY, 0);
    actions.truncate("e/a");
    actions.run();
    show();
  }
  // A program may never destroy them, and use their memory once more.
  {
    posix_spawn_file_actions_t left;
    ::posix_spawn_file_actions_init(&left);
    ::posix_spawn_file_actions_addopen(&left, 1, "a", O_WRONLY | O_TRUNC, 0);
    ::posix_spawn_file_actions_init(&left);
    char name[] = "true";
    char* const words[] = {name, nullptr};
    pid_t child = 0;
    say("spawn", ::posix_spawnp(&child, name, &left, nullptr, words, environ));
    ::waitpid(child, nullptr, 0);
    show();
  }
  for (const int fd : {a, d, e}) say("close", ::close(fd));
  return 0;
}

}  // namespace cases
