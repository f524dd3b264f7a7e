// Lets a source directory fill up before its disk does.
//
// Room is counted in allocated blocks, as a file system counts it: writing into a hole takes room,
// overwriting does not, removing and truncating give it back. What is used is measured by walking the source,
// and growth is added up in between; only when that sum says "full" is the source walked again, so that frees
// are noticed without being followed. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace forebay::slowfs {

class Capacity {
 public:
  explicit Capacity(std::string source) : source_(std::move(source)) {}

  // How many of the `size` bytes at `offset` of the open file `fd` may be written when `limit` bytes fit in
  // all; 0 means full. Counts them as used.
  uint64_t admit(int fd, uint64_t offset, uint64_t size, uint64_t limit);

  // Bytes allocated in the source now.
  uint64_t measure();

 private:
  std::string source_;
  std::mutex mutex_;
  // Guarded by mutex_:
  uint64_t used_ = 0;  // as of the last walk, plus growth since
  bool measured_ = false;
};

}  // namespace forebay::slowfs
