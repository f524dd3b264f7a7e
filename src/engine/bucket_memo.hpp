// Where the blocks that a handle read last were found: a guess that spares the index.
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

 private:
  std::array<std::atomic<std::uint32_t>, kPlaces> places_{};  // bucket + 1
};

}  // namespace forebay
