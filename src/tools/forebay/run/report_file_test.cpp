#include "tools/forebay/run/report_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

struct ReportFileTest : ::testing::Test {
  TemporaryDirectory folder;
  const std::string path = folder.file("report");
  const ReportFile file{path};

  [[nodiscard]] std::string text() const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(ReportFileTest, AShorterReportTakesThePlaceOfALonger) {
  ASSERT_TRUE(file.write("a long one"));
  ASSERT_TRUE(file.check());
  EXPECT_EQ(text(), "a long one") << "a run that does not begin leaves it";
  ASSERT_TRUE(file.write("short"));
  EXPECT_EQ(text(), "short");
  file.empty();
  EXPECT_EQ(text(), "");
}

TEST_F(ReportFileTest, WhoIsNotTheLastLeavesItToTheLast) {
  ASSERT_TRUE(file.leave_to_another());
  EXPECT_EQ(text(), "{\"reported_by_another\":true}\n");
  ASSERT_TRUE(file.write("of the last"));
  ASSERT_TRUE(file.leave_to_another()) << "of a run that was slower to write than the last one";
  EXPECT_EQ(text(), "of the last");
}

TEST_F(ReportFileTest, OneThatCannotBeWrittenIsNamed) {
  const ReportFile wrong(folder.file("nowhere/report"));
  const auto checked = wrong.check();
  ASSERT_FALSE(checked);
  EXPECT_TRUE(checked.error().message.contains(folder.file("nowhere/report")));
  EXPECT_TRUE(ReportFile("").check() && ReportFile("").write("x"));
}

}  // namespace
}  // namespace forebay
