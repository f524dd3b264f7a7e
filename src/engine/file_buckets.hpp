// The buckets of one file.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core.hpp"

namespace forebay {

// Calls visit(block, bucket) for the linked buckets of blocks [first, last], by look-up or by scan, whichever
// is shorter. In no order. What it names counts only after the key was seen again under the lock.
template <class Visit>
void for_each_bucket_of(Core& core, std::uint32_t file, std::uint64_t first, std::uint64_t last,
                        Visit&& visit) {
  const auto base = core.files.key(file, 0);
  const auto count = core.control.buckets_ready();
  if (first > last || core.control.file(file).buckets.load() == 0) return;
  if (last - first < count / 4) {
    for (auto block = first; block <= last; ++block) {
      if (const auto found = core.buckets.find(key_of_block(base, block))) visit(block, *found);
    }
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto key = core.control.bucket(i).key.load(std::memory_order_acquire);
    if ((key & ~kMaxBlock) != base) continue;
    if (key_block(key) >= first && key_block(key) <= last) visit(key_block(key), i);
  }
}

}  // namespace forebay
