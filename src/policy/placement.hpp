// Which tier takes a new bucket. Pure.
//
// An answer is an order in which to try: a tier without room is passed over.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

namespace forebay {

enum class PlacementPolicy : std::uint8_t {
  kMaxBandwidth,  // the fastest first
  kMaxLocality,   // where the block before lies, then the fastest
  kUser,          // as they were listed
};

struct PlacementTier {
  std::uint64_t bandwidth = 0;  // bytes per second; 0: not known
};

struct PlacementRequest {
  std::optional<std::size_t> neighbour{};  // the tier of the block before, if it is buffered
};

inline constexpr std::size_t kPlacementTiers = 8;

struct PlacementOrder {
  std::array<std::uint8_t, kPlacementTiers> tiers{};
  std::size_t count = 0;
  [[nodiscard]] std::span<const std::uint8_t> all() const { return {tiers.data(), count}; }
};

// `tiers` as listed, the fastest first as far as the list knows: measured figures correct it only when every
// tier has one. At most kPlacementTiers.
[[nodiscard]] inline PlacementOrder place(PlacementPolicy policy, std::span<const PlacementTier> tiers,
                                          const PlacementRequest& request) {
  PlacementOrder order;
  order.count = std::min(tiers.size(), kPlacementTiers);
  const auto begin = order.tiers.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(order.count);
  std::iota(begin, end, std::uint8_t{0});
  if (policy == PlacementPolicy::kUser || order.count < 2) return order;
  if (std::ranges::none_of(tiers, [](const PlacementTier& tier) { return tier.bandwidth == 0; })) {
    std::stable_sort(begin, end,
                     [&](std::uint8_t a, std::uint8_t b) { return tiers[a].bandwidth > tiers[b].bandwidth; });
  }
  if (policy == PlacementPolicy::kMaxLocality && request.neighbour) {
    const auto found = std::find(begin, end, *request.neighbour);
    if (found != end) std::rotate(begin, found, found + 1);
  }
  return order;
}

}  // namespace forebay
