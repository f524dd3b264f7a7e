#include "os/lease.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "os/life_lock.hpp"

namespace forebay {
namespace {

// Behind the bytes of the slots.
constexpr off_t kRings = off_t{1} << 19;
constexpr off_t kWhole = off_t{1} << 20;
constexpr off_t kHeir = kWhole + 1;

constexpr std::chrono::milliseconds kPause{2};

}  // namespace

Result<LeaseFile> LeaseFile::open(std::string path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return fail_errno(errno, "examine", path);
  if (!S_ISREG(found.st_mode)) return fail(EPERM, "refusing " + path + ": it is not a regular file");
  return LeaseFile(std::move(path), found.st_dev, found.st_ino);
}

Status LeaseFile::still_there() const {
  struct stat found{};
  if (::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_) return {};
  return fail(ESTALE, path_ + " was replaced while the buffer was in use");
}

Result<Fd> LeaseFile::reopen() const {
  Fd fd(::open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fail_errno(errno, "open", path_);
  struct stat found{};
  if (::fstat(fd.get(), &found) != 0) return fail_errno(errno, "examine", path_);
  if (found.st_dev != device_ || found.st_ino != inode_) {
    return fail(ESTALE, path_ + " was replaced while the buffer was in use");
  }
  return fd;
}

bool LeaseFile::locked(off_t byte) const {
  const auto fd = reopen();
  return !fd || is_locked(fd->get(), byte);
}

bool LeaseFile::held(std::uint32_t slot) const { return locked(slot); }
bool LeaseFile::ring_held(std::uint32_t slot) const { return locked(kRings + slot); }
bool LeaseFile::heir_held() const { return locked(kHeir); }

Result<Mapping> LeaseFile::take(std::uint32_t slot) const {
  FOREBAY_ASSIGN(auto fd, reopen());
  return lock_for_life(std::move(fd), path_, slot);
}

Result<Mapping> LeaseFile::take_heir() const {
  FOREBAY_ASSIGN(auto fd, reopen());
  return lock_for_life(std::move(fd), path_, kHeir);
}

Result<Fd> LeaseFile::take_for_ring(std::uint32_t slot) const {
  FOREBAY_ASSIGN(auto fd, reopen());
  FOREBAY_TRY(lock_with_descriptor(fd.get(), path_, kRings + slot));
  return fd;
}

Result<Fd> LeaseFile::lock_whole(std::chrono::milliseconds patience) const {
  FOREBAY_ASSIGN(auto fd, reopen());
  FOREBAY_TRY(lock_with_descriptor(fd.get(), path_, kWhole, patience, kPause));
  return fd;
}

}  // namespace forebay
