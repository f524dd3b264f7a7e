#include "base/duration.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST(Duration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("200ms").value(), 200ms);
  EXPECT_EQ(parse_duration("5s").value(), 5s);
  EXPECT_EQ(parse_duration("1.5 h").value(), 90min);
  EXPECT_EQ(parse_duration("2m").value(), 2min);
  EXPECT_EQ(parse_duration("2MIN").value(), 2min);
  EXPECT_EQ(parse_duration("10us").value(), 10us);
  EXPECT_EQ(parse_duration("0").value(), 0ns);
}

TEST(Duration, RefusesTheRest) {
  for (const char* text : {"", "5", "s", "-1s", "5sec", "1.s", "1 2s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, EINVAL);
  }
  EXPECT_EQ(parse_duration("5").error().message, "\"5\" is not a duration such as 200ms, 5s or 2m");
  EXPECT_EQ(parse_duration("9999999999s").error().code, ERANGE);
  EXPECT_EQ(parse_duration("999999999999999999999h").error().code, ERANGE);
}

TEST(Duration, ExactFormReadsBack) {
  for (const auto duration : std::vector<std::chrono::nanoseconds>{0ns, 1ns, 1500ns, 200ms, 90s, 120s, 24h}) {
    EXPECT_EQ(parse_duration(format_duration_exact(duration)).value(), duration);
  }
  EXPECT_EQ(format_duration_exact(90s), "90s");
  EXPECT_EQ(format_duration_exact(120s), "2m");
}

TEST(Duration, HumanForm) {
  EXPECT_EQ(format_duration(0ns), "0ns");
  EXPECT_EQ(format_duration(1234567ns), "1.23ms");
  EXPECT_EQ(format_duration(125s), "2m05s");
  EXPECT_EQ(format_duration(3h + 20min), "3h20m");
  EXPECT_EQ(format_duration(50h), "2d02h");
}

}  // namespace
}  // namespace forebay
