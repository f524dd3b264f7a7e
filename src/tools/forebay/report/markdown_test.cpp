#include "tools/forebay/report/markdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/forebay/report/sample.hpp"

namespace forebay::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(std::vector<Workload> workloads) {
  Run run;
  run.completeness = Completeness::Complete;
  run.workloads = std::move(workloads);
  return report_markdown(std::vector{std::move(run)});
}

TEST(Markdown, OneTableForAGroup) {
  auto first = workload_of("a");
  auto second = workload_of("b");
  first.group = second.group = "A sweep";
  first.x = "1";
  second.x = "2";
  first.x_name = second.x_name = "ratio";
  first.published = second.published = "It grows";
  const auto text = text_of({first, second, workload_of("c")});
  EXPECT_THAT(text, HasSubstr("### A sweep\n\nPublished: It grows.\n\n| ratio | way |"));
  EXPECT_THAT(text, HasSubstr("| 2 | native | 192 MB/s (189 – 196 MB/s) | 5.20 s (5.10 – 5.30 s) | 13.0 s"));
  EXPECT_THAT(
      text, HasSubstr("|  | forebay | 1.92 GB/s (1.89 – 1.96 GB/s) | 520 ms (510 – 530 ms) | 8.00 s (8.00 – "
                      "8.00 s) | 10.0 times |"));
  EXPECT_THAT(text, HasSubstr("### c\n"));
}

TEST(Markdown, NamesAreNoMarkupAndWrongBytesHaveNoFigure) {
  auto workload = workload_of("a|b<x>\n");
  workload.results[1].outcome = Outcome::WrongBytes;
  const auto text = text_of({workload});
  EXPECT_THAT(text, HasSubstr("a\\|b\\<x> "));
  EXPECT_THAT(text, HasSubstr("| forebay | – | – | – | wrong bytes |"));
  EXPECT_THAT(text, Not(HasSubstr("1.92 GB/s")));
}

}  // namespace
}  // namespace forebay::report
