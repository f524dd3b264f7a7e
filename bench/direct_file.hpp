// A file on a disk, written as fio does it: O_DIRECT, many writes in flight through io_uring.
#pragma once

#include <liburing.h>

#include <cstdint>
#include <string>

#include "os/fd.hpp"
#include "tier/aligned_buffer.hpp"

namespace forebay::bench {

class DirectFile {
 public:
  // A fresh file of `size` bytes that lie on the disk, in blocks of `block` bytes; up to `depth` writes in
  // flight.
  DirectFile(std::string path, std::uint64_t size, std::uint32_t block, unsigned depth);
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;
  ~DirectFile();

  // Writes all of it once, in order; seconds.
  double write_all();

 private:
  void reap_one();

  std::string path_;
  Fd fd_;
  std::uint64_t size_;
  std::uint32_t block_;
  unsigned depth_;
  AlignedBuffer data_;
  io_uring ring_{};
};

}  // namespace forebay::bench
