#include "policy/readahead.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace forebay {
namespace {

constexpr std::uint64_t kFile = 1u << 20;

std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges(const Readahead::Advice& advice) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const auto& range : advice.all()) all.emplace_back(range.offset, range.length);
  return all;
}

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(Readahead, OneReadIsNoPattern) {
  Readahead readahead(4096, 65536);
  EXPECT_EQ(readahead.observe(0, 1000, kFile).count, 0u);
}

TEST(Readahead, TheWindowDoublesUpToItsLimitAndNothingIsAskedForTwice) {
  Readahead readahead(4096, 16384);
  (void)readahead.observe(0, 1000, kFile);
  EXPECT_EQ(ranges(readahead.observe(1000, 1000, kFile)), (Ranges{{2000, 4096}}));
  EXPECT_EQ(ranges(readahead.observe(2000, 1000, kFile)), (Ranges{{6096, 5096}}));
  std::uint64_t asked = 11192;
  for (std::uint64_t at = 3000; at < 100'000; at += 1000) {
    for (const auto& [offset, length] : ranges(readahead.observe(at, 1000, kFile))) {
      EXPECT_EQ(offset, asked);
      asked = offset + length;
      EXPECT_LE(asked, at + 1000 + 16384);
    }
    EXPECT_GE(asked, at + 1000) << "what is read next was asked for";
  }
}

TEST(Readahead, EndsWithTheFile) {
  Readahead readahead(4096, 65536);
  (void)readahead.observe(0, 1000, 2500);
  EXPECT_EQ(ranges(readahead.observe(1000, 1000, 2500)), (Ranges{{2000, 500}}));
  EXPECT_EQ(readahead.observe(2000, 500, 2500).count, 0u);
}

TEST(Readahead, StridesAreContinuedAndNothingIsAskedForTwice) {
  Readahead readahead(4096, 16000);
  (void)readahead.observe(0, 1000, kFile);
  EXPECT_EQ(readahead.observe(10'000, 1000, kFile).count, 0u) << "two reads have a distance, not a pattern";
  EXPECT_EQ(ranges(readahead.observe(20'000, 1000, kFile)),
            (Ranges{{30'000, 1000}, {40'000, 1000}, {50'000, 1000}, {60'000, 1000}}));
  EXPECT_EQ(ranges(readahead.observe(30'000, 1000, kFile)), (Ranges{{70'000, 1000}}));
}

TEST(Readahead, AJumpEndsAPattern) {
  Readahead readahead(4096, 65536);
  (void)readahead.observe(0, 1000, kFile);
  EXPECT_NE(readahead.observe(1000, 1000, kFile).count, 0u);
  EXPECT_EQ(readahead.observe(500'000, 1000, kFile).count, 0u);
  EXPECT_EQ(readahead.observe(90'000, 1000, kFile).count, 0u) << "backwards";
  EXPECT_EQ(ranges(readahead.observe(91'000, 1000, kFile)), (Ranges{{92'000, 4096}}))
      << "from the least again";
}

TEST(Readahead, ReadersThatMixAskForNothingOutsideOfTheFile) {
  Readahead readahead(4096, 65536);
  const auto go = [&](std::uint64_t step) {
    for (std::uint64_t at = 0; at + 1000 < kFile; at += step) {
      for (const auto& [offset, length] : ranges(readahead.observe(at, 1000, kFile))) {
        EXPECT_LE(length, 65536u);
        EXPECT_LE(offset + length, kFile);
      }
    }
  };
  std::thread other([&] { go(1000); });
  go(1300);
  other.join();
}

TEST(Readahead, CanBeSwitchedOff) {
  Readahead readahead(4096, 0);
  (void)readahead.observe(0, 1000, kFile);
  EXPECT_EQ(readahead.observe(1000, 1000, kFile).count, 0u);
}

}  // namespace
}  // namespace forebay
