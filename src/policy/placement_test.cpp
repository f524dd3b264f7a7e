#include "policy/placement.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace forebay {
namespace {

using Policy = PlacementPolicy;

std::vector<int> order(Policy policy, const std::vector<PlacementTier>& tiers,
                       PlacementRequest request = {}) {
  const auto placed = place(policy, tiers, request);
  return {placed.all().begin(), placed.all().end()};
}

const std::vector<PlacementTier> kUnknown(3);
const std::vector<PlacementTier> kSecondIsFastest{{5}, {9}, {2}};

TEST(Placement, MaxBandwidthGoesByWhatWasMeasuredOfAllTiersAndElseByTheList) {
  EXPECT_EQ(order(Policy::kMaxBandwidth, kUnknown), (std::vector{0, 1, 2}));
  EXPECT_EQ(order(Policy::kMaxBandwidth, kSecondIsFastest), (std::vector{1, 0, 2}));
  EXPECT_EQ(order(Policy::kMaxBandwidth, {{5}, {9}, {}}), (std::vector{0, 1, 2}));
}

TEST(Placement, UserKeepsTheList) {
  EXPECT_EQ(order(Policy::kUser, kSecondIsFastest), (std::vector{0, 1, 2}));
}

TEST(Placement, MaxLocalityBeginsBesideTheBlockBefore) {
  EXPECT_EQ(order(Policy::kMaxLocality, kSecondIsFastest, {.neighbour = 2}), (std::vector{2, 1, 0}));
  EXPECT_EQ(order(Policy::kMaxLocality, kSecondIsFastest), (std::vector{1, 0, 2}));
  EXPECT_EQ(order(Policy::kMaxLocality, kUnknown, {.neighbour = 7}), (std::vector{0, 1, 2}));
}

TEST(Placement, OneTierIsTheOnlyAnswer) {
  for (const auto policy : {Policy::kMaxBandwidth, Policy::kMaxLocality, Policy::kUser})
    EXPECT_EQ(order(policy, {{}}, {.neighbour = 0}), std::vector{0});
  EXPECT_TRUE(order(Policy::kMaxBandwidth, {}).empty());
}

}  // namespace
}  // namespace forebay
