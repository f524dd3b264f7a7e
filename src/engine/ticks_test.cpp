// Ticks begin again after 49 days, in the middle of whatever is going on.
#include "engine/ticks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "engine/evictor.hpp"
#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kTickRound = std::uint64_t{1} << 32;

TEST(Ticks, AreNeverNoneAndTellTimeAcrossTheirEnd) {
  EXPECT_EQ(tick_of(0), 1u);
  EXPECT_EQ(tick_of(kTickRound - 2), 0xffff'ffffu);
  EXPECT_EQ(tick_of(kTickRound - 1), 1u);
  EXPECT_EQ(tick_of(kTickRound), 1u);
  EXPECT_EQ(ticks_since(tick_of(5), tick_of(1005)), 1000u);
  EXPECT_EQ(ticks_since(tick_of(kTickRound - 500), tick_of(kTickRound + 500)), 1000u);
  EXPECT_EQ(ticks_since(tick_of(10), tick_of(9)), 0u);
  EXPECT_EQ(ticks_since(tick_of(kTickRound + 10), tick_of(kTickRound - 10)), 0u);
}

// As if the buffer had been made so much earlier.
void make_older(Buffer& buffer, std::uint64_t milliseconds) {
  auto& header = const_cast<Header&>(buffer.core().control.header());
  header.created_ticks_ns -= milliseconds * 1'000'000;
}

TEST(Ticks, WhatWasWrittenBeforeTheirEndGoesHomeAfterIt) {
  TestBuffer test("drain.delay=50ms");
  make_older(*test, kTickRound - test->core().control.tick() - 20);
  const auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_TRUE(file->write(10, bytes_of("a few bytes")));
  EXPECT_TRUE(test.eventually([&] { return TestBuffer::slurp(test.home("a")).size() == 21; }));
}

TEST(Ticks, TheLeastRecentlyUsedIsForgottenFirstAcrossTheirEnd) {
  TestBuffer test("drain.trigger=never");
  make_older(*test, kTickRound - test->core().control.tick() - 1000);
  const auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  const std::string page(4096, 'x');
  ASSERT_TRUE(file->write(0, bytes_of(page)));
  make_older(*test, 2000);
  ASSERT_TRUE(file->write(4096, bytes_of(page)));
  ASSERT_TRUE(file->drain());
  auto& core = test->core();
  ASSERT_TRUE(evict_one(core, 0, EvictionOrder::kLeastRecent, ~0u));
  EXPECT_FALSE(core.buckets.find(core.files.key(file->number(), 0)));
  EXPECT_TRUE(core.buckets.find(core.files.key(file->number(), 1)));
}

}  // namespace
}  // namespace forebay
