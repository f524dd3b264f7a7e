// The files of the source that the kernel knows about.
//
// One Inode per file of the source, whatever its names; it lives while the kernel's lookup count of it is
// above zero, which for most is as long as the file system is mounted: so it is a handle by which the source
// finds the file again, and no open descriptor, of which there are only so many. Where the source has no
// handles, or this process may not use them, it is a descriptor (O_PATH). Thread-safe.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "os/fd.hpp"

namespace forebay::slowfs {

// A file, for the time of one request: an O_PATH descriptor, borrowed or its own.
class Reached {
 public:
  Reached() = default;
  explicit Reached(int borrowed) : fd_(borrowed) {}
  explicit Reached(Fd own) : own_(std::move(own)), fd_(own_.get()) {}

  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  // A path to the file itself for calls that take no O_PATH descriptor.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  Fd own_;
  int fd_ = -1;
};

// Device, inode and handle, which is empty where there are none: without one the number is not given to
// another file while the descriptor is held, with one the handle tells them apart.
using InodeKey = std::tuple<dev_t, ino_t, std::string>;

class Inode {
 public:
  Inode(InodeKey key, Fd held) : key_(std::move(key)), held_(std::move(held)) {}
  Inode(const Inode&) = delete;
  Inode& operator=(const Inode&) = delete;

 private:
  friend class InodeTable;
  const InodeKey key_;
  const Fd held_;         // none where there is a handle
  uint64_t lookups_ = 0;  // guarded by the table
};

class InodeTable {
 public:
  explicit InodeTable(Fd root);

  [[nodiscard]] Inode& root() { return root_; }

  // Nothing if it is not there any more.
  [[nodiscard]] Reached reach(const Inode& inode) const;

  // The file called `name` in `parent`, with its attributes. Counts as one lookup.
  Result<Inode*> look_up(const Reached& parent, const char* name, struct stat& attributes);

  void forget(Inode& inode, uint64_t lookups);

 private:
  [[nodiscard]] std::string handle_of(const Fd& file, dev_t device) const;
  [[nodiscard]] Fd open_handle(const std::string& handle) const;

  Inode root_;
  Fd mount_;               // of the source, for what handles are asked of; none: handles are not used
  dev_t source_device_{};  // handles are good on it alone
  std::mutex mutex_;
  std::map<InodeKey, std::unique_ptr<Inode>> inodes_;  // guarded by mutex_
};

}  // namespace forebay::slowfs
