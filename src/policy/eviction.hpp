// Which of several clean buckets to forget first. Pure.
#pragma once

#include <cstdint>
#include <span>

namespace forebay {

enum class EvictionOrder : std::uint8_t { kLeastRecent, kLeastFrequent, kFirstIn };

struct EvictionCandidate {
  std::uint32_t idle;  // since its last use; since its arrival for kFirstIn, which does not note uses
  std::uint32_t hits;
};

// Index of the one to go; candidates must not be empty. Ties go to the longest unused.
[[nodiscard]] inline std::size_t choose_victim(EvictionOrder order,
                                               std::span<const EvictionCandidate> candidates) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const auto& a = candidates[i];
    const auto& b = candidates[best];
    const bool older = a.idle > b.idle;
    const bool better =
        order == EvictionOrder::kLeastFrequent ? a.hits < b.hits || (a.hits == b.hits && older) : older;
    if (better) best = i;
  }
  return best;
}

}  // namespace forebay
