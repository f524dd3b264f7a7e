#include "tools/bench/spans.hpp"

#include <gtest/gtest.h>

namespace forebay::kernels {
namespace {

TEST(Spans, NeighboursOfAKindAreOne) {
  Spans spans;
  spans.add({Phase::kWrite, 0, 1});
  spans.add({Phase::kWrite, 1.001, 2});
  spans.add({Phase::kClose, 2, 2.5});
  spans.add({Phase::kWrite, 3, 4});
  ASSERT_EQ(spans.all().size(), 3u);
  EXPECT_EQ(spans.all()[0].end, 2);
}

// Whatever came after the first 400 was dropped, and the picture was blank from there on.
TEST(Spans, ALongRunIsCoveredToItsEnd) {
  Spans spans;
  constexpr int kMany = 100'000;
  for (int i = 0; i < kMany; ++i) {
    const double at = i * 0.01;
    spans.add({i % 2 == 0 ? Phase::kCompute : Phase::kWrite, at, at + (i % 2 == 0 ? 0.009 : 0.002)});
    ASSERT_LE(spans.all().size(), Spans::kMost);
    ASSERT_EQ(spans.all().back().end, at + (i % 2 == 0 ? 0.009 : 0.002));
  }
  EXPECT_EQ(spans.all().front().begin, 0);
  double covered = 0;
  for (std::size_t i = 0; i < spans.all().size(); ++i) {
    const auto& one = spans.all()[i];
    EXPECT_LT(one.begin, one.end);
    EXPECT_GE(one.begin, i == 0 ? 0 : spans.all()[i - 1].end);
    covered += one.end - one.begin;
  }
  EXPECT_GT(covered, kMany * 0.01 * 0.9);
}

TEST(Spans, AStretchIsOfTheKindThatTookMostOfIt) {
  Spans spans;
  double at = 0;
  for (int i = 0; i < 5000; ++i) {
    spans.add({Phase::kMetadata, at, at + 0.004});
    spans.add({Phase::kRead, at + 0.004, at + 0.005});
    at += 0.005;
  }
  spans.add({Phase::kCompute, at, at + 100});
  // A fifth of the time was reading, in pieces too short to be seen; the latest are not merged yet.
  double reading = 0;
  for (const auto& one : spans.all()) reading += one.phase == Phase::kRead ? one.end - one.begin : 0;
  EXPECT_LT(reading, at * 0.05);
  EXPECT_EQ(spans.all().back().phase, Phase::kCompute);
  EXPECT_EQ(spans.all().back().end - spans.all().back().begin, 100);
}

}  // namespace
}  // namespace forebay::kernels
