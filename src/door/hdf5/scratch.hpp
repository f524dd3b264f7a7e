// Memory for packing and converting, used again and again: the first touch of a fresh page costs more than
// the copy into it.
//
// Borrowed for one call from a pool of the process. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace forebay::hdf5 {

// Consecutive elements of a selection.
struct Run {
  std::uint64_t first;
  std::uint64_t count;
};

// Bytes that lie together in the file and in memory.
struct Extent {
  std::uint64_t file;  // or kHole
  std::uint64_t length;
  std::byte* memory;
};

class Room {
 public:
  // At least `size` bytes, aligned for any type; what was there is lost.
  std::byte* get(std::size_t size);
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
};

struct Scratch {
  Room packed;
  Room background;
  Room hull;
  std::vector<Extent> extents;
  std::vector<Extent> sorted;
  std::vector<Run> runs;
};

class BorrowedScratch {
 public:
  BorrowedScratch();
  BorrowedScratch(const BorrowedScratch&) = delete;
  BorrowedScratch& operator=(const BorrowedScratch&) = delete;
  ~BorrowedScratch();
  Scratch& operator*() const { return *scratch_; }

 private:
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace forebay::hdf5
