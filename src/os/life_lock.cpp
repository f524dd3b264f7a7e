#include "os/life_lock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace forebay {
namespace {

struct flock byte_lock(short type, off_t byte) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

Status lock_with_descriptor(int file, const std::string& name, off_t byte) {
  auto lock = byte_lock(F_WRLCK, byte);
  while (::fcntl(file, F_OFD_SETLK, &lock) != 0) {
    if (errno == EINTR) continue;
    if (errno == EACCES) errno = EAGAIN;
    return fail_errno(errno, "lock", name);
  }
  return {};
}

Status lock_with_descriptor(int file, const std::string& name, off_t byte, std::chrono::milliseconds patience,
                            std::chrono::microseconds pause) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto status = lock_with_descriptor(file, name, byte);
    if (status || status.error().code != EAGAIN) return status;
    if (std::chrono::steady_clock::now() >= until)
      return fail(ETIMEDOUT, "another process has held " + name + " locked for too long");
    std::this_thread::sleep_for(pause);
  }
}

void unlock_with_descriptor(int file, off_t byte) {
  auto lock = byte_lock(F_UNLCK, byte);
  ::fcntl(file, F_OFD_SETLK, &lock);
}

bool is_locked(int file, off_t byte) {
  auto lock = byte_lock(F_WRLCK, byte);
  if (::fcntl(file, F_OFD_GETLK, &lock) != 0) return true;
  return lock.l_type != F_UNLCK;
}

Result<Mapping> lock_for_life(Fd file, const std::string& name, off_t byte) {
  FOREBAY_TRY(lock_with_descriptor(file.get(), name, byte));
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  FOREBAY_ASSIGN(auto mapping, Mapping::shared(file.get(), page, name));
  if (::madvise(mapping.data(), mapping.size(), MADV_DONTFORK) != 0)
    return fail_errno(errno, "keep to itself", name);
  return mapping;
}

}  // namespace forebay
