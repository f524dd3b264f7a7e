#include "tools/forebay/report/markup.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace forebay::report {
namespace {

TEST(Markup, NothingOfATextIsMarkup) {
  EXPECT_EQ(escape("<script>alert('1')</script>"), "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
  EXPECT_EQ(escape("a \"b\" & c"), "a &quot;b&quot; &amp; c");
  EXPECT_EQ(escape(std::string_view("a\0b\x1b\x7f", 5)), "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(escape("µs –\n"), "µs –\n");
}

TEST(Markup, CoordinatesAreAlwaysNumbers) {
  EXPECT_EQ(coordinate(12.5), "12.5");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(100), "100");
  EXPECT_EQ(coordinate(std::numeric_limits<double>::quiet_NaN()), "0");
  EXPECT_EQ(coordinate(1e300), "1000000");
  EXPECT_EQ(percent(0.125), "12.5%");
}

TEST(Markup, AWayHasOneColourOnAPage) {
  Palette palette;
  palette.add(std::vector<std::string>{"cache_ext", "forebay", "native"});
  palette.add(std::vector<std::string>{"native", "other", "cache_ext"});
  EXPECT_EQ(palette.class_of("native"), "w0");
  EXPECT_EQ(palette.class_of("forebay"), "w1");
  EXPECT_EQ(palette.class_of("cache_ext"), "w2");
  EXPECT_EQ(palette.class_of("other"), "w3");
  EXPECT_EQ(palette.chip("<b>").find("<b>"), std::string::npos);
}

TEST(Markup, MoreWaysThanColours) {
  Palette palette;
  std::vector<std::string> ways;
  for (int i = 0; i < 20; ++i) ways.push_back(std::to_string(i));
  palette.add(ways);
  for (const auto& way : ways) {
    EXPECT_GE(palette.class_of(way), "w2");
    EXPECT_LE(palette.class_of(way), "w7");
  }
}

}  // namespace
}  // namespace forebay::report
