// Modes and owners of files. The kernel changes them at once; of a file with unsaved bytes the buffer is told
// when that was, for the drain changes home's time once more.
#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/calls.hpp"

using namespace forebay::posix;

namespace {

// A drain is a write, which takes such bits away again; and who comes later may not be allowed to write.
bool wants_it_home(mode_t mode) { return (mode & (S_ISUID | S_ISGID)) != 0 || (mode & S_IWUSR) == 0; }

// After `call` on a file of which some may be unsaved.
template <class Call>
int changing(const Engine* there, int at, const char* path, int flags, Call call) {
  const int result = call();
  if (result != 0 || there == nullptr) return result;
  tell_changed(there, at, path, flags);
  return result;
}

template <class Call>
int changing_name(int at, const char* path, int flags, Call call) {
  return changing(engine_before(at, path), at, path, flags, call);
}

template <class Call>
int changing_descriptor(int fd, Call call) {
  return changing(buffered(fd) ? engine.load() : nullptr, fd, "", AT_EMPTY_PATH, call);
}

template <class Call>
int changing_mode(int at, const char* path, mode_t mode, int flags, Call call) {
  Names file;
  const auto* const there = engine_before(at, path);
  const bool follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  if (there != nullptr && wants_it_home(mode) &&
      look_at(at, path, follow, &file, flags & AT_EMPTY_PATH) == Kind::kFile &&
      !drained(there, file, at, path))
    return -1;
  return changing(there, at, path, flags, call);
}

}  // namespace

FOREBAY_CALL int fb_chmod(const char* path, mode_t mode) {
  return changing_mode(AT_FDCWD, path, mode, 0, [&] { return real.chmod(path, mode); });
}
FOREBAY_CALL int fb_fchmodat(int at, const char* path, mode_t mode, int flags) {
  return changing_mode(at, path, mode, flags, [&] { return real.fchmodat(at, path, mode, flags); });
}
FOREBAY_CALL int fb_lchmod(const char* path, mode_t mode) {
  return fb_fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW);
}
FOREBAY_CALL int fb_fchmod(int fd, mode_t mode) {
  if (wants_it_home(mode) && buffered(fd) && !prepared(&Engine::drain, fd, static_cast<const char*>(nullptr)))
    return -1;
  return changing_descriptor(fd, [&] { return real.fchmod(fd, mode); });
}

FOREBAY_CALL int fb_chown(const char* path, uid_t user, gid_t group) {
  return changing_name(AT_FDCWD, path, 0, [&] { return real.chown(path, user, group); });
}
FOREBAY_CALL int fb_lchown(const char* path, uid_t user, gid_t group) {
  return changing_name(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, [&] { return real.lchown(path, user, group); });
}
FOREBAY_CALL int fb_fchownat(int at, const char* path, uid_t user, gid_t group, int flags) {
  return changing_name(at, path, flags, [&] { return real.fchownat(at, path, user, group, flags); });
}
FOREBAY_CALL int fb_fchown(int fd, uid_t user, gid_t group) {
  return changing_descriptor(fd, [&] { return real.fchown(fd, user, group); });
}

FOREBAY_EXPORT(chmod, fb_chmod);
FOREBAY_EXPORT(lchmod, fb_lchmod);
FOREBAY_EXPORT(fchmod, fb_fchmod);
FOREBAY_EXPORT(fchmodat, fb_fchmodat);
FOREBAY_EXPORT(chown, fb_chown);
FOREBAY_EXPORT(lchown, fb_lchown);
FOREBAY_EXPORT(fchown, fb_fchown);
FOREBAY_EXPORT(fchownat, fb_fchownat);
