#include "tools/demo/report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace forebay::demo {
namespace {

using std::chrono::milliseconds;

TEST(Report, SaysWhatWasSeenHiddenAndTakenInAll) {
  const Figures plain{.observed = milliseconds(6000), .last_wait = {}, .total = milliseconds(14'000)};
  const Figures forebay{
      .observed = milliseconds(750), .last_wait = milliseconds(500), .total = milliseconds(8750)};
  const auto text = report(plain, forebay, 40);
  EXPECT_NE(text.find("8.0 x"), std::string::npos) << text;
  EXPECT_NE(text.find("5.25 s"), std::string::npos) << text;
  EXPECT_NE(text.find("1.6 x"), std::string::npos) << text;
  EXPECT_NE(text.find("Forebay: 8.0 times faster as seen by the program"), std::string::npos) << text;
}

TEST(Report, NeverHidesLessThanNothing) {
  const Figures plain{.observed = milliseconds(10), .last_wait = {}, .total = milliseconds(20)};
  const Figures forebay{.observed = milliseconds(20), .last_wait = {}, .total = milliseconds(30)};
  EXPECT_EQ(report(plain, forebay, 1).find("-"), std::string::npos);
}

TEST(Report, RowsAreAligned) {
  std::istringstream lines(report({}, {}, 1));
  std::string line;
  std::getline(lines, line);
  const auto width = line.size();
  for (int i = 0; i < 4; ++i) {
    std::getline(lines, line);
    EXPECT_EQ(line.size(), width) << line;
  }
}

}  // namespace
}  // namespace forebay::demo
