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

FOREBAY_CALL int fb_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* arguments,
                                char* const* environment) {
  before_spawn(path, arguments, environment);
  open_ahead(actions);
  return real.posix_spawn(pid, path, actions, attributes, arguments, environment);
}
FOREBAY_CALL int fb_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const* arguments,
                                 char* const* environment) {
  before_spawn(file, arguments, environment);
  open_ahead(actions);
  return real.posix_spawnp(pid, file, actions, attributes, arguments, environment);
}

FOREBAY_CALL int fb_pidfd_spawn(int* pidfd, const char* path, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* arguments,
                                char* const* environment) {
  before_spawn(path, arguments, environment);
  open_ahead(actions);
  return real.pidfd_spawn(pidfd, path, actions, attributes, arguments, environment);
}
FOREBAY_CALL int fb_pidfd_spawnp(int* pidfd, const char* file, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const* arguments,
                                 char* const* environment) {
  before_spawn(file, arguments, environment);
  open_ahead(actions);
  return real.pidfd_spawnp(pidfd, file, actions, attributes, arguments, environment);
}

FOREBAY_EXPORT(pidfd_spawn, fb_pidfd_spawn);
FOREBAY_EXPORT(pidfd_spawnp, fb_pidfd_spawnp);
FOREBAY_EXPORT(posix_spawn, fb_posix_spawn);
FOREBAY_EXPORT(posix_spawnp, fb_posix_spawnp);
FOREBAY_EXPORT(posix_spawn_file_actions_addopen, fb_spawn_addopen);
FOREBAY_EXPORT(posix_spawn_file_actions_destroy, fb_spawn_destroy);
