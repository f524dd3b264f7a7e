#include "door/mpiio/only_name.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "os/fd.hpp"

namespace forebay::mpiio {

OnlyName::OnlyName(Buffer& buffer, int fd, std::string path) : path_(std::move(path)) {
  struct stat found{};
  const auto stamp = stamp_of(fd, path_);
  if (!stamp || ::fstat(fd, &found) != 0 || found.st_nlink != 1) return;
  buffer_ = &buffer;
  identity_ = stamp->identity;
}

void OnlyName::was_removed() const {
  if (buffer_ == nullptr) return;
  const Fd now(::open(path_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const auto another = now ? stamp_of(now.get(), path_) : fail_errno(errno, "find", path_);
  const bool gone =
      another ? another->identity.device != identity_.device || another->identity.inode != identity_.inode
              : another.error().code == ENOENT;
  if (gone) buffer_->unlinked(identity_);
}

}  // namespace forebay::mpiio
