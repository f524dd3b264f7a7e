#include "policy/ripeness.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

constexpr Ripeness kUsual{.patience_ms = 200};

TEST(Ripeness, AFullWindowGoesAtOnce) { EXPECT_TRUE(kUsual.judge({}).ripe); }

TEST(Ripeness, AWindowThatSomebodyAddsToWaits) {
  const Window growing{.full = false, .all_whole = false, .oldest_ms = 4900, .quiet_ms = 3};
  EXPECT_FALSE(kUsual.judge(growing).ripe);
  EXPECT_EQ(kUsual.judge(growing).look_again_ms, 197u);
}

TEST(Ripeness, ButNotForEver) {
  EXPECT_TRUE(kUsual.judge({.full = false, .all_whole = false, .oldest_ms = 5000, .quiet_ms = 3}).ripe);
}

TEST(Ripeness, AQuietWindowGoesAsItIs) {
  EXPECT_TRUE(kUsual.judge({.full = false, .all_whole = false, .oldest_ms = 200, .quiet_ms = 200}).ripe);
  // Whole blocks wait a moment only: nothing will be added to them.
  EXPECT_TRUE(kUsual.judge({.full = false, .all_whole = true, .oldest_ms = 20, .quiet_ms = 20}).ripe);
  EXPECT_FALSE(kUsual.judge({.full = false, .all_whole = true, .oldest_ms = 20, .quiet_ms = 4}).ripe);
}

TEST(Ripeness, PressureAndClosingEndAllWaiting) {
  const Window young{.full = false, .all_whole = false};
  EXPECT_TRUE((Ripeness{.asked_only = true, .released = true, .patience_ms = 200}.judge(young).ripe));
  EXPECT_TRUE((Ripeness{.asked_only = true, .pressed = true, .patience_ms = 200}.judge(young).ripe));
}

TEST(Ripeness, WhatGoesWhenAskedForIsNotLookedAtAgain) {
  const auto verdict = Ripeness{.asked_only = true}.judge({});
  EXPECT_FALSE(verdict.ripe);
  EXPECT_EQ(verdict.look_again_ms, kNoNeed);
}

TEST(Ripeness, APeriodIsKeptEvenByFullWindows) {
  const Ripeness periodic{.at_once = false, .patience_ms = 5000};
  EXPECT_EQ(periodic.judge({.oldest_ms = 1000}).look_again_ms, 4000u);
  EXPECT_TRUE(periodic.judge({.oldest_ms = 5000}).ripe);
}

}  // namespace
}  // namespace forebay
