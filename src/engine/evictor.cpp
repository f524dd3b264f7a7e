#include "engine/evictor.hpp"

#include <array>

#include "engine/ticks.hpp"

namespace forebay {
namespace {

constexpr std::size_t kSample = 64;

// Looks clean, without the lock: evict() makes sure. `dirty_since` is 0 exactly when nothing is unsaved, but
// for moments.
bool looks_clean(const Bucket& bucket) {
  const auto flags = bucket.flags.load(std::memory_order_relaxed);
  return bucket.dirty_since.load(std::memory_order_relaxed) == 0 &&
         bucket.claimer.load(std::memory_order_relaxed) == 0 &&
         (flags & (kBucketPinned | kBucketDamaged)) == 0;
}

bool spared(const Core& core, Key key, std::uint32_t for_file) {
  const auto file = key_file(key);
  if (file == for_file || file >= core.control.header().file_count) return false;
  const auto& record = core.control.file(file);
  const auto reserve = record.reserve.load(std::memory_order_relaxed);
  return reserve != 0 && record.opens_hint.load(std::memory_order_relaxed) != 0 &&
         std::uint64_t{record.buckets.load(std::memory_order_relaxed)} * core.bucket_size() <= reserve;
}

}  // namespace

bool evict_one(Core& core, std::uint32_t tier, EvictionOrder order, std::uint32_t for_file) {
  auto& hand = core.control.shared().tiers[tier].hand;
  const auto available = core.slots.available(tier);
  const auto first = core.tiers[tier].first_slot;
  const auto now = core.control.tick();
  for (std::uint32_t looked = 0; looked < available;) {
    std::array<EvictionCandidate, kSample> candidates;
    std::array<std::pair<std::uint32_t, Key>, kSample> names;
    std::size_t count = 0;
    while (looked < available && count < kSample) {
      ++looked;
      const auto at = hand.fetch_add(1, std::memory_order_relaxed) % available;
      const auto word = core.slots.word(first + at).load(std::memory_order_relaxed);
      const auto index = slot_bucket(word);
      if (slot_owner(word) != kLinked || index >= core.control.header().bucket_count) continue;
      const auto& bucket = core.control.bucket(index);
      const auto key = bucket.key.load(std::memory_order_acquire);
      if (key == 0 || !looks_clean(bucket) || spared(core, key, for_file)) continue;
      candidates[count] = {ticks_since(bucket.used.load(std::memory_order_relaxed), now),
                           bucket.hits.load(std::memory_order_relaxed)};
      names[count++] = {index, key};
    }
    while (count > 0) {
      const auto chosen = choose_victim(order, {candidates.data(), count});
      if (core.buckets.evict(names[chosen].first, names[chosen].second)) return true;
      --count;
      candidates[chosen] = candidates[count];
      names[chosen] = names[count];
    }
  }
  return false;
}

}  // namespace forebay
