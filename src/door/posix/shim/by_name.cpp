#include "door/posix/shim/by_name.hpp"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "config/raw_variable.hpp"

namespace forebay::posix {
namespace {

// Where the settings do not say in the environment, the engine has to find out.
bool buffer_exists() {
  const char* const directory = raw_variable(environ, "FOREBAY_BUFFER_DIRECTORY");
  const char* const name = raw_variable(environ, "FOREBAY_BUFFER_NAME");
  if (directory == nullptr || name == nullptr) return true;
  char path[PATH_MAX];
  if (strlen(directory) + strlen(name) + 2 > sizeof path) return true;
  strcpy(path, directory);
  strcat(path, "/");
  strcat(path, name);
  const int before = errno;
  const bool there = ::access(path, F_OK) == 0;
  errno = before;
  return there;
}

bool may_be_needed() {
  return active.load(std::memory_order_relaxed) && thread.depth == 0 && !in_vfork_child();
}

}  // namespace

const Engine* engine_for(int at, const char* path) {
  if (!may_be_needed()) return nullptr;
  if (const auto* const there = engine.load(std::memory_order_acquire)) return there;
  if (!may_lie_in_home(at, path) || !buffer_exists()) return nullptr;
  return need_engine();
}

const Engine* engine_by_links(int at, const char* path) {
  if (const auto* const there = engine_for(at, path)) return there;
  return may_be_needed() && !may_lie_in_home(at, path) && buffer_exists() && leads_into_home(at, path)
             ? need_engine()
             : nullptr;
}

const Engine* engine_before(int at, const char* path, bool follow) {
  if (!active.load(std::memory_order_relaxed) || !is_text(path)) return nullptr;
  if (const auto* const there = engine_for(at, path)) return there;
  // The folder where a name begins has no link on its way.
  if (!may_be_needed() || may_lie_in_home(at, path) || (!follow && strchr(path, '/') == nullptr))
    return nullptr;
  struct statx found;
  const int before = errno;
  const bool there = real.statx(at, path, AT_STATX_DONT_SYNC, STATX_TYPE, &found) == 0;
  errno = before;
  return there && on_home_device(makedev(found.stx_dev_major, found.stx_dev_minor))
             ? engine_by_links(at, path)
             : nullptr;
}

const Engine* engine_of_buffer() {
  if (!may_be_needed()) return nullptr;
  if (const auto* const there = engine.load(std::memory_order_acquire)) return there;
  return buffer_exists() ? need_engine() : nullptr;
}

// The answer to what changed it brought its attributes along.
void tell_changed(const Engine* there, int at, const char* path, int flags) {
  struct statx now;
  const int before = errno;
  const int how = (flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) | AT_STATX_DONT_SYNC;
  if (real.statx(at, path, how, STATX_TYPE | STATX_INO | STATX_CTIME, &now) == 0 && S_ISREG(now.stx_mode)) {
    const Crossing crossing;
    const auto device = static_cast<unsigned long>(now.stx_dev_major) << 32 | now.stx_dev_minor;
    there->status_changed(device, now.stx_ino, now.stx_ctime.tv_sec * 1'000'000'000 + now.stx_ctime.tv_nsec);
  }
  errno = before;
}

bool matters(const Engine* there, const Names& file) {
  const Crossing crossing;
  return there->matters(file.device, file.inode) == 1;
}

bool drained(const Engine* there, const Names& file, int at, const char* path) {
  char name[PATH_MAX];
  const bool named = absolute_name(at, path, name, sizeof name);
  Crossing crossing;
  const long failed = there->drain_inode(file.device, file.inode, named ? name : nullptr);
  return failed >= 0 || crossing.answer<int>(failed) >= 0;
}

bool real_name(int at, const char* path, int flags, char* name) {
  const int before = errno;
  const int fd = real.openat(at, path, O_PATH | O_CLOEXEC | flags);
  const bool found = fd >= 0 && name_of(fd, name, PATH_MAX);
  if (fd >= 0) real.syscall(SYS_close, fd);
  errno = before;
  return found;
}

Kind look_at(int at, const char* path, bool follow, Names* found, int how) {
  struct statx now;
  const int before = errno;
  const int flags = how | (follow ? 0 : AT_SYMLINK_NOFOLLOW);
  const bool there =
      real.statx(at, path, flags, STATX_TYPE | STATX_INO | STATX_NLINK | STATX_BTIME, &now) == 0;
  errno = before;
  if (!there || !on_home_device(makedev(now.stx_dev_major, now.stx_dev_minor), at, path)) return Kind::kNone;
  if (S_ISDIR(now.stx_mode)) return Kind::kFolder;
  if (!S_ISREG(now.stx_mode)) return Kind::kNone;
  found->device = static_cast<unsigned long>(now.stx_dev_major) << 32 | now.stx_dev_minor;
  found->inode = now.stx_ino;
  found->links = now.stx_nlink;
  found->born_ns =
      (now.stx_mask & STATX_BTIME) != 0 ? now.stx_btime.tv_sec * 1'000'000'000 + now.stx_btime.tv_nsec : 0;
  return Kind::kFile;
}

}  // namespace forebay::posix
