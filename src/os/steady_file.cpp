#include "os/steady_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace forebay {

Result<SteadyFile> SteadyFile::open(const Fd& directory, const std::string& name, Create create, int flags) {
  FOREBAY_ASSIGN(auto fd, open_private_file(directory, name, create, flags));
  struct stat found{};
  if (::fstat(fd.get(), &found) != 0) return fail_errno(errno, "examine", name);
  SteadyFile file;
  file.path_ = path_of(fd.get());
  if (file.path_.empty()) file.path_ = name;
  file.flags_ = flags;
  file.device_ = found.st_dev;
  file.inode_ = found.st_ino;
  file.fd_ = fd.release();
  return file;
}

SteadyFile::SteadyFile(SteadyFile&& other) noexcept
    : path_(std::move(other.path_)),
      flags_(other.flags_),
      device_(other.device_),
      inode_(other.inode_),
      fd_(other.fd_.exchange(-1)) {}

SteadyFile& SteadyFile::operator=(SteadyFile&& other) noexcept {
  if (this != &other) {
    close();
    path_ = std::move(other.path_);
    flags_ = other.flags_;
    device_ = other.device_;
    inode_ = other.inode_;
    fd_ = other.fd_.exchange(-1);
  }
  return *this;
}

SteadyFile::~SteadyFile() { close(); }

void SteadyFile::close() {
  const int fd = fd_.exchange(-1);
  if (fd >= 0 && is_ours(fd)) ::close(fd);
}

bool SteadyFile::is_ours(int fd) const {
  struct stat found{};
  return ::fstat(fd, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

Result<int> SteadyFile::descriptor() const {
  const int fd = fd_.load(std::memory_order_acquire);
  if (fd >= 0 && is_ours(fd)) return fd;
  const std::lock_guard guard(reopening_);
  if (const int now = fd_.load(std::memory_order_acquire); now >= 0 && is_ours(now)) return now;
  Fd again(::open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags_));
  if (!again) return fail_errno(errno, "open again", path_);
  if (!is_ours(again.get())) return fail(ESTALE, path_ + " was replaced while in use");
  if (::fcntl(again.get(), F_SETFL, flags_ & O_DIRECT) != 0) return fail_errno(errno, "prepare", path_);
  fd_.store(again.get(), std::memory_order_release);
  return again.release();
}

Status SteadyFile::still_there() const {
  FOREBAY_ASSIGN(const int fd, descriptor());
  struct stat found{};
  if (::fstat(fd, &found) != 0) return fail_errno(errno, "examine", path_);
  if (found.st_nlink == 0) return fail(ESTALE, path_ + " was removed while in use");
  return {};
}

}  // namespace forebay
