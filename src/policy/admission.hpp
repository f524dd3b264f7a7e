// Whether bytes are worth a place in the buffer: measured, not assumed. Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace forebay {

// What accesses took of late, by size class (powers of two).
class MeanTimes {
 public:
  void note(std::uint64_t bytes, std::uint64_t nanoseconds) {
    auto& mean = means_[size_class(bytes)];
    const auto before = mean.load(std::memory_order_relaxed);
    const auto sample = std::max<std::uint64_t>(nanoseconds, 1);
    // A quarter of each new sample: a burst of slowness is forgotten in a few accesses.
    mean.store(before == 0 ? sample : before - before / 4 + sample / 4, std::memory_order_relaxed);
  }
  // Nanoseconds; 0: there was none.
  [[nodiscard]] std::uint64_t mean(std::uint64_t bytes) const {
    return means_[size_class(bytes)].load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] static std::size_t size_class(std::uint64_t bytes) {
    return static_cast<std::size_t>(std::min(std::bit_width(bytes), 39));
  }
  std::array<std::atomic<std::uint64_t>, 40> means_{};
};

// Bytes read from home are kept when reading them again from a tier would be clearly faster; while nothing is
// known they are.
class ReadAdmission {
 public:
  void note(std::uint64_t bytes, std::uint64_t nanoseconds) { times_.note(bytes, nanoseconds); }
  [[nodiscard]] bool admit(std::uint64_t bytes) const {
    const auto mean = times_.mean(bytes);
    return mean == 0 || mean > kWorthwhile * hit_cost(bytes);
  }

  // What a hit costs: a look-up and a copy at about 10 GB/s.
  [[nodiscard]] static constexpr std::uint64_t hit_cost(std::uint64_t bytes) { return 100 + bytes / 10; }
  static constexpr std::uint64_t kWorthwhile = 3;

 private:
  MeanTimes times_;
};

// Writes are staged unless home takes large ones at the speed of memory: then staging is a second copy that
// gains nothing. Small ones always are, because they gain by being merged. Home's writes of a like size tell;
// before there are any, what `forebay profile` measured; while nothing is known, writes are staged.
class WriteAdmission {
 public:
  WriteAdmission() = default;
  // Bytes per second and nanoseconds of home; 0: not measured.
  WriteAdmission(std::uint64_t bandwidth, std::uint64_t latency) : bandwidth_(bandwidth), latency_(latency) {}

  void note(std::uint64_t bytes, std::uint64_t nanoseconds) { times_.note(bytes, nanoseconds); }
  [[nodiscard]] bool admit(std::uint64_t bytes) const {
    if (bytes < kLarge) return true;
    auto time = times_.mean(bytes);
    if (time == 0 && bandwidth_ != 0)
      time = latency_ +
             static_cast<std::uint64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(bandwidth_));
    return time == 0 || time > kWorthwhile * stage_cost(bytes);
  }

  // At about 10 GB/s; the same again for the drain to read it.
  [[nodiscard]] static constexpr std::uint64_t stage_cost(std::uint64_t bytes) { return 200 + bytes / 10; }
  static constexpr std::uint64_t kWorthwhile = 6;
  static constexpr std::uint64_t kLarge = 64u << 10;

 private:
  std::uint64_t bandwidth_ = 0;
  std::uint64_t latency_ = 0;
  MeanTimes times_;
};

}  // namespace forebay
