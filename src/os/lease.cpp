#include "os/lease.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace forebay {
namespace {

constexpr off_t kRings = off_t{1} << 19;
constexpr off_t kWholeByte = off_t{1} << 20;

struct flock byte_lock(off_t at) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  return lock;
}

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
  if (!fd) return true;
  auto lock = byte_lock(byte);
  if (::fcntl(fd->get(), F_OFD_GETLK, &lock) != 0) return true;
  return lock.l_type != F_UNLCK;
}

bool LeaseFile::held(std::uint32_t slot) const { return locked(slot); }
bool LeaseFile::ring_held(std::uint32_t slot) const { return locked(kRings + slot); }

Result<Fd> LeaseFile::lock_byte(off_t byte) const {
  FOREBAY_ASSIGN(auto fd, reopen());
  auto lock = byte_lock(byte);
  if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) return fail_errno(errno, "hold a lease in", path_);
  return fd;
}

Result<Mapping> LeaseFile::take(std::uint32_t slot) const {
  FOREBAY_ASSIGN(const auto fd, lock_byte(slot));
  FOREBAY_ASSIGN(auto mapping,
                 Mapping::shared(fd.get(), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), path_));
  if (::madvise(mapping.data(), mapping.size(), MADV_DONTFORK) != 0)
    return fail_errno(errno, "protect the lease in", path_);
  return mapping;
}

Result<Fd> LeaseFile::take_for_ring(std::uint32_t slot) const { return lock_byte(kRings + slot); }

Result<Fd> LeaseFile::lock_whole(std::uint64_t deadline_ms) const {
  FOREBAY_ASSIGN(auto fd, reopen());
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(deadline_ms);
  for (;;) {
    auto lock = byte_lock(kWholeByte);
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return fd;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return fail_errno(errno, "lock", path_);
    if (std::chrono::steady_clock::now() >= until) {
      return fail(ETIMEDOUT, "another process has held " + path_ +
                                 " locked for too long while making or removing the buffer");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace forebay
