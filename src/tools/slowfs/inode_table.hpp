// The files of the source that the kernel knows about, each held by an O_PATH descriptor.
//
// One Inode per file of the source, whatever its names; it lives while the kernel's lookup count of it is
// above zero. The descriptor keeps the file reachable after its last name is gone. Thread-safe.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace forebay::slowfs {

class Inode {
 public:
  explicit Inode(int fd) : fd_(fd) {}
  ~Inode();
  Inode(const Inode&) = delete;
  Inode& operator=(const Inode&) = delete;

  int fd() const { return fd_; }
  // A path to the file itself for calls that take no O_PATH descriptor.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  friend class InodeTable;
  const int fd_;
  uint64_t lookups_ = 0;  // guarded by the table
};

class InodeTable {
 public:
  explicit InodeTable(int root_fd) : root_(root_fd) {}

  Inode& root() { return root_; }

  // The file called `name` in `parent`, with its attributes. Counts as one lookup.
  Result<Inode*> look_up(const Inode& parent, const char* name, struct stat& attributes);

  void forget(Inode& inode, uint64_t lookups);

 private:
  using Key = std::pair<dev_t, ino_t>;

  Inode root_;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Inode>> inodes_;  // guarded by mutex_
};

}  // namespace forebay::slowfs
