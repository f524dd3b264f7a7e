#include "tools/forebay/report/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace forebay::report {
namespace {

using ::testing::ElementsAre;

TEST(Axis, LinearEndsAboveTheLargest) {
  EXPECT_THAT(Axis::linear(1.7).ticks(), ElementsAre(0, 0.5, 1, 1.5, 2));
  EXPECT_THAT(Axis::linear(100).ticks(), ElementsAre(0, 50, 100));
  EXPECT_EQ(Axis::linear(1.7).place(1), 0.5);
}

TEST(Axis, ExtremeValuesHaveFewTicks) {
  for (const double largest : {0.0, -1.0, 1e-300, 1e-9, 3e9, 1e300, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
    const auto axis = Axis::linear(largest);
    EXPECT_GE(axis.ticks().size(), 2u) << largest;
    EXPECT_LE(axis.ticks().size(), 6u) << largest;
  }
  for (const double largest : {1.0, 2.0, 30.0, 1e5, 1e12}) {
    const auto axis = Axis::logarithmic(1e-6, largest);
    EXPECT_GE(axis.ticks().size(), 2u) << largest;
    EXPECT_LE(axis.ticks().size(), 7u) << largest;
  }
}

TEST(Axis, LogarithmicHasRoundEnds) {
  EXPECT_THAT(Axis::logarithmic(0.6, 7).ticks(), ElementsAre(0.5, 1, 2, 5, ::testing::DoubleNear(10, 1e-9)));
  EXPECT_NEAR(Axis::logarithmic(1, 100).place(10), 0.5, 1e-9);
  EXPECT_EQ(Axis::logarithmic(1, 100).place(0), 0);
  EXPECT_EQ(Axis::logarithmic(1, 100).place(1e9), 1);
}

TEST(Axis, BetweenTwoNumbersOrAtOne) {
  EXPECT_THAT(Axis::between(0, 2).ticks(), ElementsAre(0, 0.5, 1, 1.5, 2));
  EXPECT_THAT(Axis::between(3, 3).ticks(), ElementsAre(3));
  EXPECT_EQ(Axis::between(3, 3).place(3), 0.5);
}

TEST(Axis, TicksAreWrittenOut) {
  EXPECT_EQ(tick_text(0.5), "0.5");
  EXPECT_EQ(tick_text(100000), "100000");
  EXPECT_EQ(tick_text(1e9), "1e+09");
}

}  // namespace
}  // namespace forebay::report
