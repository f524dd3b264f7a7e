#include "base/format.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(FormatText, SaysWhatStdFormatSays) {
  const std::string name = "a";
  EXPECT_EQ(format_text("{} of {:5.2f} and {:#06x}, {:>4}", 3, 1.5, 255, name),
            std::format("{} of {:5.2f} and {:#06x}, {:>4}", 3, 1.5, 255, name));
}

TEST(FormatText, TakesWhatIsMadeForIt) {
  EXPECT_EQ(format_text("{}", std::string("made") + " here"), "made here");
}

}  // namespace
}  // namespace forebay
