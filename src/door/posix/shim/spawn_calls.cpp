// Children that the C library makes, with actions on files that nobody sees.
#include <stdlib.h>
#include <string.h>

#include "door/posix/shim/before_exec.hpp"
#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/homes.hpp"
#include "door/posix/shim/state.hpp"

using namespace forebay::posix;

namespace {

// An action that truncates a file of a home: the buffer would not notice.
struct Truncation {
  const posix_spawn_file_actions_t* actions;
  char* path;
  int flags;
  mode_t mode;
  Truncation* next;
};
constinit Truncation* all = nullptr;
constinit pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

void remember(const posix_spawn_file_actions_t* actions, const char* path, int flags, mode_t mode) {
  auto* const one = static_cast<Truncation*>(::malloc(sizeof(Truncation)));
  char* const copy = ::strdup(path);
  if (one == nullptr || copy == nullptr) {
    ::free(one);
    ::free(copy);
    return;
  }
  ::pthread_mutex_lock(&guard);
  *one = {actions, copy, flags, mode, all};
  all = one;
  ::pthread_mutex_unlock(&guard);
}

void forget(const posix_spawn_file_actions_t* actions) {
  ::pthread_mutex_lock(&guard);
  for (Truncation** link = &all; *link != nullptr;) {
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

// What the child is about to do, so that the buffer truncates too: its own open then finds nothing to cut.
void open_ahead(const posix_spawn_file_actions_t* actions) {
  if (actions == nullptr || thread.depth != 0 || in_vfork_child()) return;
  const int before = errno;
  ::pthread_mutex_lock(&guard);
  for (const auto* one = all; one != nullptr; one = one->next) {
    if (one->actions != actions) continue;
    const int fd = fb_open(one->path, one->flags | O_CLOEXEC, one->mode);
    if (fd >= 0) (void)fb_close(fd);
  }
  ::pthread_mutex_unlock(&guard);
  errno = before;
}

}  // namespace

FOREBAY_CALL int fb_spawn_addopen(posix_spawn_file_actions_t* actions, int fd, const char* path, int flags,
                                  mode_t mode) {
  const int result = real.posix_spawn_file_actions_addopen(actions, fd, path, flags, mode);
  if (result == 0 && (flags & O_TRUNC) != 0 && (flags & O_EXCL) == 0 &&
      active.load(std::memory_order_relaxed) && may_lie_in_home(AT_FDCWD, path))
    remember(actions, path, flags, mode);
  return result;
}
FOREBAY_CALL int fb_spawn_destroy(posix_spawn_file_actions_t* actions) {
  if (active.load(std::memory_order_relaxed)) forget(actions);
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
FOREBAY_EXPORT(posix_spawn_file_actions_destroy, fb_spawn_destroy);
