// Where the blocks that a handle read last were found: a guess that spares the index; and how much it has
// read since it last noted a use.
//
// A hint, by any number of threads at once: whoever uses it looks whether the bucket has the block's key
// still.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace forebay {

class BucketMemo {
 public:
  // 256 MiB of the usual buckets: 4 KiB for each open file.
  static constexpr std::size_t kPlaces = 1024;

  [[nodiscard]] std::optional<std::uint32_t> guess(std::uint64_t block) const {
    const auto noted = places_[block % kPlaces].load(std::memory_order_relaxed);
    return noted == 0 ? std::nullopt : std::optional(noted - 1);
  }
  void note(std::uint64_t block, std::uint32_t bucket) {
    places_[block % kPlaces].store(bucket + 1, std::memory_order_relaxed);
  }

  // Should this hit be noted in the bucket? Looking at the clock costs as much as a small hit, and noting
  // makes others wait for the line: once for each kNoted bytes, of whichever bucket it is then.
  bool touch_is_due(std::uint32_t length) {
    const auto read = since_noted_.load(std::memory_order_relaxed) + length;
    const bool due = read >= kNoted;
    since_noted_.store(due ? 0 : read, std::memory_order_relaxed);
    return due;
  }

 private:
  static constexpr std::uint32_t kNoted = 1024;
  std::array<std::atomic<std::uint32_t>, kPlaces> places_{};  // bucket + 1
  std::atomic<std::uint32_t> since_noted_{kNoted - 1};
};

}  // namespace forebay
