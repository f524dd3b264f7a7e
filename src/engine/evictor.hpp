// Making room by forgetting clean buckets.
#pragma once

#include <cstdint>

#include "engine/core.hpp"
#include "policy/eviction.hpp"

namespace forebay {

// Evicts one clean bucket of `tier`, chosen by `order` among a sample that moves on with each call (the whole
// tier if it is small). `for_file`: who wants the room; buckets of other files within their reservation are
// spared. False when the tier has nothing that may be forgotten.
bool evict_one(Core& core, std::uint32_t tier, EvictionOrder order, std::uint32_t for_file);

// Notes a use, for the orders that want to know. Stores as little as that takes: readers share the line.
inline void touch(const Core& core, Bucket& bucket, Eviction kind) {
  if (kind == Eviction::Fifo) return;
  const auto now = core.control.tick();
  if (bucket.used.load(std::memory_order_relaxed) != now) bucket.used.store(now, std::memory_order_relaxed);
  if (kind == Eviction::Lfu)
    bucket.hits.store(bucket.hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

[[nodiscard]] constexpr EvictionOrder order_of(Eviction kind) {
  switch (kind) {
    case Eviction::Lfu:
      return EvictionOrder::kLeastFrequent;
    case Eviction::Fifo:
      return EvictionOrder::kFirstIn;
    case Eviction::Lru:
      break;
  }
  return EvictionOrder::kLeastRecent;
}

}  // namespace forebay
