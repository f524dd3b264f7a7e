// Names of files. What is unsaved of a file is home before its name changes, so that whoever takes
// over after a death finds it; what lost its last name goes nowhere any more.
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/calls.hpp"

using namespace forebay::posix;

namespace {

bool matters(const Engine* there, const Names& file) {
  const Crossing crossing;
  return there->matters(file.device, file.inode) == 1;
}

void tell_unlinked(const Engine* there, const Names& file) {
  const Crossing crossing;
  there->unlinked(&file);
}

template <class Call>
int unlinking(int at, const char* path, Call call) {
  Names file;
  const auto* const there = engine_before(at, path);
  const bool known = there != nullptr && look_at(at, path, false, &file, AT_STATX_DONT_SYNC) == Kind::kFile &&
                     matters(there, file) && look_at(at, path, false, &file) == Kind::kFile;
  // It may be this name by which the buffer would find it.
  if (known && file.links > 1 && !drained(there, file)) return -1;
  const int result = call();
  if (result == 0 && known && file.links == 1) tell_unlinked(there, file);
  return result;
}

// The real name of a folder, in which links are resolved: so the buffer has those of its files.
bool folder_name(int at, const char* path, char* name) {
  const int before = errno;
  const int fd = real.openat(at, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const bool found = fd >= 0 && name_of(fd, name, PATH_MAX);
  if (fd >= 0) real.syscall(SYS_close, fd);
  errno = before;
  return found;
}

// One side of a rename.
struct Side {
  Side(int from, const char* name) : at(from), path(name) {}
  int at;
  const char* path;
  Kind kind = Kind::kNone;
  Names file{};
  char folder[PATH_MAX];

  // What is unsaved of it, or in it, is home. False: it cannot be.
  bool prepare(const Engine* there) {
    if (kind == Kind::kFile) return drained(there, file);
    if (kind != Kind::kFolder) return true;
    if (!folder_name(at, path, folder)) {
      kind = Kind::kNone;
      return true;
    }
    Crossing crossing;
    const long failed = there->drain_below(folder);
    return failed >= 0 || crossing.answer<int>(failed) >= 0;
  }
  // It has the name of `other` now, and perhaps that one its own.
  void is_now(const Engine* there, const Side& other, bool exchanged = false) {
    char name[PATH_MAX];
    if (kind == Kind::kFile && absolute_name(other.at, other.path, name, sizeof name)) {
      {
        const Crossing crossing;
        there->renamed(&file, name);
      }
      tell_changed(there, other.at, other.path, AT_SYMLINK_NOFOLLOW);
    }
    if (kind == Kind::kFolder && folder_name(other.at, other.path, name)) {
      const Crossing crossing;
      there->renamed_below(folder, name, exchanged ? 1 : 0);
    }
  }
};

template <class Call>
int renaming(int from_at, const char* from_path, int to_at, const char* to_path, bool exchanges, Call call) {
  Side from(from_at, from_path);
  Side to(to_at, to_path);
  const auto* there = engine_before(from_at, from_path);
  if (there == nullptr) there = engine_before(to_at, to_path);
  if (there == nullptr) return call();
  from.kind = look_at(from_at, from_path, false, &from.file);
  to.kind = look_at(to_at, to_path, false, &to.file);
  // Of what is replaced, only what has another name goes on.
  const bool replaces = !exchanges && to.kind == Kind::kFile;
  const bool kept = exchanges || (replaces && to.file.links > 1);
  if (!from.prepare(there) || (kept && !to.prepare(there))) return -1;
  const int result = call();
  if (result != 0) return result;
  const bool folders = exchanges && from.kind == Kind::kFolder && to.kind == Kind::kFolder;
  from.is_now(there, to, folders);
  if (exchanges && !folders) to.is_now(there, from);
  const bool same = from.kind == Kind::kFile && to.file.inode == from.file.inode;
  if (replaces && to.file.links == 1 && !same) tell_unlinked(there, to.file);
  return result;
}

template <class Call>
int linking(int at, const char* path, int flags, int to_at, const char* to, Call call) {
  Side from(at, path);
  const auto* const there = engine_before(at, path);
  if (there != nullptr)
    from.kind = look_at(at, path, (flags & AT_SYMLINK_FOLLOW) != 0, &from.file, flags & AT_EMPTY_PATH);
  if (from.kind == Kind::kFile && !drained(there, from.file)) return -1;
  const int result = call();
  if (result == 0 && from.kind == Kind::kFile) tell_changed(there, to_at, to, AT_SYMLINK_NOFOLLOW);
  // Its first name (O_TMPFILE).
  if (result == 0 && from.kind == Kind::kFile && from.file.links == 0) from.is_now(there, Side(to_at, to));
  return result;
}

}  // namespace

FOREBAY_CALL int fb_unlink(const char* path) {
  return unlinking(AT_FDCWD, path, [&] { return real.unlink(path); });
}
FOREBAY_CALL int fb_unlinkat(int at, const char* path, int flags) {
  if ((flags & AT_REMOVEDIR) != 0) return real.unlinkat(at, path, flags);
  return unlinking(at, path, [&] { return real.unlinkat(at, path, flags); });
}
FOREBAY_CALL int fb_remove(const char* path) {
  return unlinking(AT_FDCWD, path, [&] { return real.remove(path); });
}
FOREBAY_CALL int fb_rename(const char* from, const char* to) {
  return renaming(AT_FDCWD, from, AT_FDCWD, to, false, [&] { return real.rename(from, to); });
}
FOREBAY_CALL int fb_renameat(int from_at, const char* from, int to_at, const char* to) {
  return renaming(from_at, from, to_at, to, false, [&] { return real.renameat(from_at, from, to_at, to); });
}
FOREBAY_CALL int fb_renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
  return renaming(from_at, from, to_at, to, (flags & RENAME_EXCHANGE) != 0,
                  [&] { return real.renameat2(from_at, from, to_at, to, flags); });
}
FOREBAY_CALL int fb_link(const char* from, const char* to) {
  return linking(AT_FDCWD, from, 0, AT_FDCWD, to, [&] { return real.link(from, to); });
}
FOREBAY_CALL int fb_linkat(int from_at, const char* from, int to_at, const char* to, int flags) {
  return linking(from_at, from, flags, to_at, to,
                 [&] { return real.linkat(from_at, from, to_at, to, flags); });
}

FOREBAY_CALL int fb_chdir(const char* path) {
  const int result = real.chdir(path);
  directory_changed();
  return result;
}
FOREBAY_CALL int fb_fchdir(int fd) {
  const int result = real.fchdir(fd);
  directory_changed();
  return result;
}

FOREBAY_EXPORT(unlink, fb_unlink);
FOREBAY_EXPORT(unlinkat, fb_unlinkat);
FOREBAY_EXPORT(remove, fb_remove);
FOREBAY_EXPORT(rename, fb_rename);
FOREBAY_EXPORT(renameat, fb_renameat);
FOREBAY_EXPORT(renameat2, fb_renameat2);
FOREBAY_EXPORT(link, fb_link);
FOREBAY_EXPORT(linkat, fb_linkat);
FOREBAY_EXPORT(chdir, fb_chdir);
FOREBAY_EXPORT(fchdir, fb_fchdir);
