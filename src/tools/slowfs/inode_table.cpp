#include "tools/slowfs/inode_table.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace forebay::slowfs {
namespace {

// A file_handle with its bytes behind it.
struct Room {
  alignas(file_handle) char bytes[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  file_handle& handle() { return *reinterpret_cast<file_handle*>(bytes); }
};

}  // namespace

InodeTable::InodeTable(Fd root) : root_({}, std::move(root)) {
  struct stat source{};
  if (fstat(root_.held_.get(), &source) != 0) return;
  mount_ = Fd(openat(root_.held_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  source_device_ = source.st_dev;
  const auto handle = mount_ ? handle_of(root_.held_, source.st_dev) : "";
  if (handle.empty() || !open_handle(handle)) mount_.reset();
}

// Empty: it has none.
std::string InodeTable::handle_of(const Fd& file, dev_t device) const {
  if (!mount_ || device != source_device_) return {};
  Room room;
  room.handle().handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (name_to_handle_at(file.get(), "", &room.handle(), &mount, AT_EMPTY_PATH) != 0) return {};
  return {room.bytes, sizeof(file_handle) + room.handle().handle_bytes};
}

Fd InodeTable::open_handle(const std::string& text) const {
  Room room;
  std::memcpy(room.bytes, text.data(), text.size());
  return Fd(open_by_handle_at(mount_.get(), &room.handle(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

Reached InodeTable::reach(const Inode& inode) const {
  if (inode.held_) return Reached(inode.held_.get());
  return Reached(open_handle(std::get<std::string>(inode.key_)));
}

Result<Inode*> InodeTable::look_up(const Reached& parent, const char* name, struct stat& attributes) {
  Fd file(openat(parent.fd(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return fail_errno(errno, "find", name);
  if (fstat(file.get(), &attributes) != 0) return fail_errno(errno, "stat", name);
  InodeKey key{attributes.st_dev, attributes.st_ino, handle_of(file, attributes.st_dev)};

  const std::scoped_lock lock(mutex_);
  auto& known = inodes_[key];
  if (!known) {
    const bool held = std::get<std::string>(key).empty();
    known = std::make_unique<Inode>(std::move(key), held ? std::move(file) : Fd());
  }
  ++known->lookups_;
  return known.get();
}

void InodeTable::forget(Inode& inode, uint64_t lookups) {
  if (&inode == &root_) return;
  const std::scoped_lock lock(mutex_);
  inode.lookups_ -= lookups;
  if (inode.lookups_ == 0) inodes_.erase(InodeKey(inode.key_));
}

}  // namespace forebay::slowfs
