// Whether bytes read from home are worth a place in the buffer: measured, not assumed. Thread-safe.
//
// For each size class of reads (powers of two) the time home takes is averaged over the last reads. Bytes are
// kept when reading them again from a tier would be clearly faster; while nothing is known they are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace forebay {

class ReadAdmission {
 public:
  void note(std::uint64_t bytes, std::uint64_t nanoseconds) {
    auto& mean = means_[size_class(bytes)];
    const auto before = mean.load(std::memory_order_relaxed);
    const auto sample = std::max<std::uint64_t>(nanoseconds, 1);
    // A quarter of each new sample: a burst of slowness is forgotten in a few reads.
    mean.store(before == 0 ? sample : before - before / 4 + sample / 4, std::memory_order_relaxed);
  }
  [[nodiscard]] bool admit(std::uint64_t bytes) const {
    const auto mean = means_[size_class(bytes)].load(std::memory_order_relaxed);
    return mean == 0 || mean > kWorthwhile * hit_cost(bytes);
  }

  // What a hit costs: a look-up and a copy at about 10 GB/s.
  [[nodiscard]] static constexpr std::uint64_t hit_cost(std::uint64_t bytes) { return 100 + bytes / 10; }
  static constexpr std::uint64_t kWorthwhile = 3;

 private:
  [[nodiscard]] static std::size_t size_class(std::uint64_t bytes) {
    return static_cast<std::size_t>(std::min(std::bit_width(bytes), 39));
  }
  std::array<std::atomic<std::uint64_t>, 40> means_{};
};

}  // namespace forebay
