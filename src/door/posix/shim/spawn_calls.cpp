// Children that the C library makes, with actions on files that nobody sees.
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "door/posix/shim/before_exec.hpp"
#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/homes.hpp"
#include "door/posix/shim/state.hpp"

using namespace forebay::posix;

namespace {

// What a list of actions does, as far as it matters to those that truncate a file of a home, which the buffer
// would not notice: all that is opened, and the folders that are gone to, in order.
struct Action {
  const posix_spawn_file_actions_t* actions;
  char* path;  // null: to the folder of `fd`
  int fd;
  int flags;  // kFolder: to the folder `path`
  mode_t mode;
  Action* next;
};
constexpr int kFolder = -1;
constinit Action* all = nullptr;
constinit pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<bool> minds_forks = false;

// Somebody else of the parent's threads may have had it.
void in_child() { guard = PTHREAD_MUTEX_INITIALIZER; }

void remember(const posix_spawn_file_actions_t* actions, const char* path, int fd, int flags, mode_t mode) {
  if (!minds_forks.exchange(true)) ::pthread_atfork(nullptr, nullptr, in_child);
  auto* const one = static_cast<Action*>(::malloc(sizeof(Action)));
  char* const copy = path == nullptr ? nullptr : ::strdup(path);
  if (one == nullptr || (copy == nullptr && path != nullptr)) {
    ::free(one);
    ::free(copy);
    return;
  }
  *one = {actions, copy, fd, flags, mode, nullptr};
  ::pthread_mutex_lock(&guard);
  auto** link = &all;
  while (*link != nullptr) link = &(*link)->next;
  *link = one;
  ::pthread_mutex_unlock(&guard);
}

void forget(const posix_spawn_file_actions_t* actions) {
  ::pthread_mutex_lock(&guard);
  for (Action** link = &all; *link != nullptr;) {
    auto* const one = *link;
    if (one->actions != actions) {
      link = &one->next;
      continue;
    }
    *link = one->next;
    ::free(one->path);
    ::free(one);
  }
  ::pthread_mutex_unlock(&guard);
}

// The folder in which the child's names begin.
class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { leave(); }
  [[nodiscard]] int at() const { return at_; }
  bool go(const Action& to) {
    const int next = to.path != nullptr ? real.openat(at_, to.path, O_PATH | O_DIRECTORY | O_CLOEXEC)
                                        : static_cast<int>(real.fcntl(to.fd, F_DUPFD_CLOEXEC, 0));
    leave();
    at_ = next;
    return next >= 0;
  }

 private:
  void leave() const {
    if (at_ >= 0) real.close(at_);
  }
  int at_ = AT_FDCWD;
};

bool truncates(const Action& action) {
  return action.path != nullptr && action.flags != kFolder && (action.flags & O_TRUNC) != 0 &&
         (action.flags & O_EXCL) == 0;
}

// What the child is about to do, so that the buffer truncates too: its own open then finds nothing to cut.
// After one that fails the child does nothing more.
void open_ahead(const posix_spawn_file_actions_t* actions) {
  if (actions == nullptr || thread.depth != 0 || in_vfork_child()) return;
  const int before = errno;
  ::pthread_mutex_lock(&guard);
  const Action* last = nullptr;
  for (const auto* one = all; one != nullptr; one = one->next) {
    if (one->actions == actions && truncates(*one)) last = one;
  }
  Place place;
  bool good = last != nullptr;
  for (const auto* one = all; good; one = one->next) {
    if (one->actions == actions) {
      if (one->path == nullptr || one->flags == kFolder) {
        good = place.go(*one);
      } else if (truncates(*one) && may_lie_in_home(place.at(), one->path)) {
        const int fd = fb_openat(place.at(), one->path, one->flags | O_CLOEXEC, one->mode);
        good = fd >= 0;
        if (good) (void)fb_close(fd);
      } else if ((one->flags & O_CREAT) == 0) {
        good = ::faccessat(place.at(), one->path, F_OK, 0) == 0;
      }
    }
    if (one == last) break;
  }
  ::pthread_mutex_unlock(&guard);
  errno = before;
}

bool watched() { return active.load(std::memory_order_relaxed); }

}  // namespace

FOREBAY_CALL int fb_spawn_init(posix_spawn_file_actions_t* actions) {
  // A program may not have destroyed the last one that lay there.
  if (watched()) forget(actions);
  return real.posix_spawn_file_actions_init(actions);
}
FOREBAY_CALL int fb_spawn_addopen(posix_spawn_file_actions_t* actions, int fd, const char* path, int flags,
                                  mode_t mode) {
  const int result = real.posix_spawn_file_actions_addopen(actions, fd, path, flags, mode);
  if (result == 0 && watched()) remember(actions, path, fd, flags, mode);
  return result;
}
FOREBAY_CALL int fb_spawn_addchdir(posix_spawn_file_actions_t* actions, const char* path) {
  const int result = real.posix_spawn_file_actions_addchdir_np(actions, path);
  if (result == 0 && watched()) remember(actions, path, -1, kFolder, 0);
  return result;
}
FOREBAY_CALL int fb_spawn_addfchdir(posix_spawn_file_actions_t* actions, int fd) {
  const int result = real.posix_spawn_file_actions_addfchdir_np(actions, fd);
  if (result == 0 && watched()) remember(actions, nullptr, fd, kFolder, 0);
  return result;
}
FOREBAY_CALL int fb_spawn_destroy(posix_spawn_file_actions_t* actions) {
  if (watched()) forget(actions);
  return real.posix_spawn_file_actions_destroy(actions);
}

namespace {

// By one of the C library's four functions, which differ in how they find the program and what they say of
// the child.
template <class Call, class Child>
int spawn(Call call, Search search, Child* child, const char* program,
          const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes, char* const* words,
          char* const* environment) {
  const bool known = before_spawn(program, search, words, environment);
  open_ahead(actions);
  return when_written(known, [&] { return call(child, program, actions, attributes, words, environment); });
}

}  // namespace

#define FOREBAY_SPAWN(name, Child, search)                                                                 \
  FOREBAY_CALL int fb_##name(Child* child, const char* program, const posix_spawn_file_actions_t* actions, \
                             const posix_spawnattr_t* attributes, char* const* words,                      \
                             char* const* environment) {                                                   \
    return spawn(real.name, Search::search, child, program, actions, attributes, words, environment);      \
  }                                                                                                        \
  FOREBAY_EXPORT(name, fb_##name)

FOREBAY_SPAWN(posix_spawn, pid_t, kHere);
FOREBAY_SPAWN(posix_spawnp, pid_t, kInPath);
FOREBAY_SPAWN(pidfd_spawn, int, kHere);
FOREBAY_SPAWN(pidfd_spawnp, int, kInPath);

namespace {

// The C library starts the shell by itself.
void before_shell(const char* command) {
  if (command == nullptr) return;
  char* const words[] = {const_cast<char*>("sh"), const_cast<char*>("-c"), const_cast<char*>(command),
                         nullptr};
  before_spawn("/bin/sh", Search::kHere, words, environ);
}

}  // namespace

FOREBAY_CALL int fb_system(const char* command) {
  before_shell(command);
  return real.system(command);
}
FOREBAY_CALL FILE* fb_popen(const char* command, const char* type) {
  before_shell(command);
  return real.popen(command, type);
}

FOREBAY_EXPORT(system, fb_system);
FOREBAY_EXPORT(popen, fb_popen);
FOREBAY_EXPORT(_IO_popen, fb_popen);
FOREBAY_EXPORT(posix_spawn_file_actions_addopen, fb_spawn_addopen);
FOREBAY_EXPORT(posix_spawn_file_actions_init, fb_spawn_init);
FOREBAY_EXPORT(posix_spawn_file_actions_addchdir_np, fb_spawn_addchdir);
FOREBAY_EXPORT(posix_spawn_file_actions_addchdir, fb_spawn_addchdir);
FOREBAY_EXPORT(posix_spawn_file_actions_addfchdir_np, fb_spawn_addfchdir);
FOREBAY_EXPORT(posix_spawn_file_actions_addfchdir, fb_spawn_addfchdir);
FOREBAY_EXPORT(posix_spawn_file_actions_destroy, fb_spawn_destroy);
