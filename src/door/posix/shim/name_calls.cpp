// Names of files. What is unsaved of a file is home before its name changes, so that whoever takes
// over after a death finds it; what lost its last name goes nowhere any more.
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/calls.hpp"

using namespace forebay::posix;

namespace {

void tell_unlinked(const Engine* there, const Names& file) {
  const Crossing crossing;
  there->unlinked(&file);
}

// One of several names goes. False: what is unsaved cannot go home (errno is set).
bool loses_name(const Engine* there, const Names& file, int at, const char* path) {
  char name[PATH_MAX];
  if (!real_name(at, path, O_NOFOLLOW, name)) return drained(there, file, at, path);
  Crossing crossing;
  const long failed = there->losing_name(file.device, file.inode, name);
  return failed >= 0 || crossing.answer<int>(failed) >= 0;
}

template <class Call>
int unlinking(int at, const char* path, Call call) {
  Names file;
  const auto* const there = engine_before(at, path, false);
  const bool known = there != nullptr && look_at(at, path, false, &file, AT_STATX_DONT_SYNC) == Kind::kFile &&
                     matters(there, file) && look_at(at, path, false, &file) == Kind::kFile;
  // It may be this name by which the buffer would find it.
  if (known && file.links > 1 && !loses_name(there, file, at, path)) return -1;
  const int result = call();
  if (result == 0 && known && file.links == 1) tell_unlinked(there, file);
  return result;
}

bool folder_name(int at, const char* path, char* name) {
  return real_name(at, path, O_DIRECTORY | O_NOFOLLOW, name);
}

// One side of a rename.
struct Side {
  Side(int from, const char* name) : at(from), path(name) {}
  int at;
  const char* path;
  Kind kind = Kind::kNone;
  Names file{};
  bool known = false;  // a file that somebody has open, or of which some is unsaved
  char folder[PATH_MAX];

  // Home is asked only of what the buffer knows, and only for the number of its names, or for its whole
  // identity.
  void look(const Engine* there, bool names, bool follow = false, int how = 0) {
    kind = look_at(at, path, follow, &file, how | AT_STATX_DONT_SYNC);
    known = kind == Kind::kFile && matters(there, file);
    if (known && (names || file.born_ns == 0)) kind = look_at(at, path, follow, &file, how);
  }
  // What is unsaved of it, or in it, is home. False: it cannot be.
  bool prepare(const Engine* there) {
    if (kind == Kind::kFile) return !known || drained(there, file, at, path);
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
      if (known) tell_changed(there, other.at, other.path, AT_SYMLINK_NOFOLLOW);
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
  const auto* there = engine_before(from_at, from_path, false);
  if (there == nullptr) there = engine_before(to_at, to_path, false);
  if (there == nullptr) return call();
  from.look(there, false);
  to.look(there, true);
  const bool same = from.kind == Kind::kFile && to.file.inode == from.file.inode;
  const bool replaces = !exchanges && to.kind == Kind::kFile;
  if (!from.prepare(there) || (exchanges && !to.prepare(there))) return -1;
  // Of what is replaced, only what has another name goes on.
  if (replaces && to.known && to.file.links > 1 && !same && !loses_name(there, to.file, to_at, to_path))
    return -1;
  const int result = call();
  if (result != 0) return result;
  const bool folders = exchanges && from.kind == Kind::kFolder && to.kind == Kind::kFolder;
  from.is_now(there, to, folders);
  if (exchanges && !folders) to.is_now(there, from);
  if (replaces && to.known && to.file.links == 1 && !same) tell_unlinked(there, to.file);
  return result;
}

template <class Call>
int linking(int at, const char* path, int flags, int to_at, const char* to, Call call) {
  Side from(at, path);
  const auto* const there = engine_before(at, path, (flags & AT_SYMLINK_FOLLOW) != 0);
  if (there != nullptr) from.look(there, true, (flags & AT_SYMLINK_FOLLOW) != 0, flags & AT_EMPTY_PATH);
  if (!from.known) return call();
  if (!drained(there, from.file, at, path)) return -1;
  const int result = call();
  if (result == 0) tell_changed(there, to_at, to, AT_SYMLINK_NOFOLLOW);
  // Its first name (O_TMPFILE).
  if (result == 0 && from.file.links == 0) from.is_now(there, Side(to_at, to));
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
