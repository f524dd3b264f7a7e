#include "tools/forebay/report/units.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace forebay::report {
namespace {

TEST(Units, ThreeSignificantDigits) {
  EXPECT_EQ(digits_text(0), "0");
  EXPECT_EQ(digits_text(1), "1.00");
  EXPECT_EQ(digits_text(9.996), "10.0");
  EXPECT_EQ(digits_text(0.01234), "0.0123");
  EXPECT_EQ(digits_text(1234.4), "1230");
  EXPECT_EQ(digits_text(-2.5), "−2.50");
  EXPECT_EQ(digits_text(1e-9), "1.00e-09");
  EXPECT_EQ(digits_text(1.5e30), "1.50e+30");
  EXPECT_EQ(digits_text(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(digits_text(std::numeric_limits<double>::denorm_min()).empty(), false);
}

TEST(Units, BytesAndRates) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(999.9), "1.00 kB");
  EXPECT_EQ(bytes_text(8388608), "8.39 MB");
  EXPECT_EQ(rate_text(999999999), "1.00 GB/s");
  EXPECT_EQ(rate_text(0.5), "0.500 B/s");
  EXPECT_EQ(rate_text(0), "0 B/s");
  EXPECT_EQ(rate_text(2e21), "2000 EB/s");
}

TEST(Units, Times) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(3e-9), "3.00 ns");
  EXPECT_EQ(seconds_text(0.0009999), "1.00 ms");
  EXPECT_EQ(seconds_text(0.6549), "655 ms");
  EXPECT_EQ(seconds_text(5.04), "5.04 s");
  EXPECT_EQ(seconds_text(599), "599 s");
  EXPECT_EQ(seconds_text(750), "12.5 min");
  EXPECT_EQ(seconds_text(36000), "10.0 h");
}

TEST(Units, CountsAndShares) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(40960), "40960");
  EXPECT_EQ(count_text(1048576), "1.05 M");
  EXPECT_EQ(percent_text(0.125), "12.5 %");
}

TEST(Units, ARangeHasItsUnitOnce) {
  EXPECT_EQ(range_text("207 MB/s", "217 MB/s"), "207 – 217 MB/s");
  EXPECT_EQ(range_text("950 kB", "1.10 MB"), "950 kB – 1.10 MB");
  EXPECT_EQ(range_text("5", "7"), "5 – 7");
}

TEST(Units, OneUnitForAnAxis) {
  EXPECT_EQ(unit_of_bytes(2.5e9).name, "GB");
  EXPECT_EQ(unit_of_bytes(0).name, "B");
  EXPECT_EQ(unit_of_seconds(0.4).name, "ms");
  EXPECT_EQ(unit_of_seconds(0).name, "s");
}

}  // namespace
}  // namespace forebay::report
