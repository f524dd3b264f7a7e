#include "tools/demo/compare.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "os/temporary_directory.hpp"

namespace forebay::demo {
namespace {

class Compare : public ::testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return folder_.file(name);
  }
  TemporaryDirectory folder_;
};

TEST_F(Compare, EqualFilesHaveNoDifference) {
  const std::string text(3'000'000, 'x');
  EXPECT_EQ(difference(make("a", text), make("b", text)), "");
  EXPECT_EQ(difference(make("a", ""), make("b", "")), "");
}

TEST_F(Compare, FindsTheFirstByteThatDiffers) {
  std::string text(3'000'000, 'x');
  const auto a = make("a", text);
  text[2'500'000] = 'y';
  EXPECT_NE(difference(a, make("b", text)).find("differ at byte 2500000"), std::string::npos);
}

TEST_F(Compare, FindsAShorterAndAMissingFile) {
  EXPECT_NE(difference(make("a", "xyz"), make("b", "xy")).find("differ in size after byte 2"),
            std::string::npos);
  EXPECT_NE(difference(make("a", "xyz"), folder_.file("none")).find("none cannot be read"),
            std::string::npos);
}

}  // namespace
}  // namespace forebay::demo
