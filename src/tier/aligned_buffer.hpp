// Memory aligned for direct I/O, and a small pool of it so that the first touch of its pages is paid once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace forebay {

// What O_DIRECT asks of addresses, offsets and lengths on every disk we know.
inline constexpr std::uint64_t kBlock = 4096;

constexpr std::uint64_t round_down(std::uint64_t value) { return value & ~(kBlock - 1); }
constexpr std::uint64_t round_up(std::uint64_t value) { return round_down(value + kBlock - 1); }
constexpr bool is_aligned(std::uint64_t value) { return (value & (kBlock - 1)) == 0; }
inline bool is_aligned(const void* pointer) { return is_aligned(reinterpret_cast<std::uintptr_t>(pointer)); }

struct AlignedDelete {
  void operator()(std::byte* data) const { ::operator delete[](data, std::align_val_t{kBlock}); }
};
using AlignedBuffer = std::unique_ptr<std::byte[], AlignedDelete>;

inline AlignedBuffer make_aligned_buffer(std::size_t size) {
  return AlignedBuffer(static_cast<std::byte*>(::operator new[](size, std::align_val_t{kBlock})));
}

// Buffers of one size. Thread-safe. Keeps at most kKept of them when nobody uses them.
class BufferPool {
 public:
  explicit BufferPool(std::size_t size) : size_(size) {}

  class Borrowed {
   public:
    Borrowed(BufferPool& pool, AlignedBuffer buffer) : pool_(pool), buffer_(std::move(buffer)) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() { pool_.give(std::move(buffer_)); }
    [[nodiscard]] std::byte* data() const { return buffer_.get(); }
    [[nodiscard]] std::size_t size() const { return pool_.size_; }

   private:
    BufferPool& pool_;
    AlignedBuffer buffer_;
  };

  [[nodiscard]] Borrowed take() {
    {
      const std::lock_guard guard(mutex_);
      if (!free_.empty()) {
        auto buffer = std::move(free_.back());
        free_.pop_back();
        return {*this, std::move(buffer)};
      }
    }
    return {*this, make_aligned_buffer(size_)};
  }

 private:
  static constexpr std::size_t kKept = 4;

  void give(AlignedBuffer buffer) {
    const std::lock_guard guard(mutex_);
    if (free_.size() < kKept) free_.push_back(std::move(buffer));
  }

  std::size_t size_;
  std::mutex mutex_;
  std::vector<AlignedBuffer> free_;  // guarded by mutex_
};

}  // namespace forebay
