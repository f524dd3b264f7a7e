#include "tools/slowfs/inode_table.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace forebay::slowfs {

Inode::~Inode() { close(fd_); }

Result<Inode*> InodeTable::look_up(const Inode& parent, const char* name, struct stat& attributes) {
  const int fd = openat(parent.fd(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "find", name);
  auto fresh = std::make_unique<Inode>(fd);
  if (fstat(fd, &attributes) != 0) return fail_errno(errno, "stat", name);

  const std::scoped_lock lock(mutex_);
  auto& known = inodes_[Key{attributes.st_dev, attributes.st_ino}];
  if (!known) known = std::move(fresh);
  ++known->lookups_;
  return known.get();
}

void InodeTable::forget(Inode& inode, uint64_t lookups) {
  if (&inode == &root_) return;
  const std::scoped_lock lock(mutex_);
  inode.lookups_ -= lookups;
  if (inode.lookups_ > 0) return;
  struct stat attributes{};
  if (fstat(inode.fd(), &attributes) == 0) inodes_.erase(Key{attributes.st_dev, attributes.st_ino});
}

}  // namespace forebay::slowfs
