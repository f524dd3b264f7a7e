#include "os/life_lock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace forebay {

Status lock_with_descriptor(const Fd& file, const std::string& name) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return {};
  if (errno == EACCES) errno = EAGAIN;
  return fail_errno(errno, "lock", name);
}

Result<Mapping> lock_for_life(Fd file, const std::string& name) {
  FOREBAY_TRY(lock_with_descriptor(file, name));
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  FOREBAY_ASSIGN(auto mapping, Mapping::shared(file.get(), page, name));
  if (::madvise(mapping.data(), mapping.size(), MADV_DONTFORK) != 0)
    return fail_errno(errno, "keep to itself", name);
  return mapping;
}

}  // namespace forebay
