#include "tools/forebay/report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/forebay/report/sample.hpp"

namespace forebay::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Run run_with(std::vector<Workload> workloads) {
  Run run;
  run.file = "results.jsonl";
  run.completeness = Completeness::Complete;
  run.workloads = std::move(workloads);
  return run;
}

std::string page_of(Run run) { return report_page(std::vector{std::move(run)}, "forebay test"); }

TEST(Page, SaysWhatTheFiguresMean) {
  const auto page = page_of(run_with({workload_of("vpic")}));
  EXPECT_THAT(page, HasSubstr("10.0 times native&#39;s observed rate"));
  EXPECT_THAT(page, HasSubstr("forebay, 1 workload: faster in 1"));
  EXPECT_THAT(page, Not(HasSubstr("interrupted")));
}

TEST(Page, NothingOfAFileIsMarkup) {
  auto workload = workload_of("<x>");
  const std::string bad = "\"'><x>&";
  workload.title = workload.kernel = workload.group = workload.published = workload.x = workload.x_name = bad;
  workload.configuration = {{bad, bad}};
  workload.ways = {bad, "forebay"};
  workload.timelines = {{bad, 1, {{0, bad, 0, 1}}, {}}};
  for (auto& round : workload.results) {
    if (round.way == "native") round.way = bad;
    round.error = bad;
    round.settings = {{bad, bad}};
    round.iterations = {{bad, 1, 1}, {bad, 1, 1}};
    round.times[bad] = 1;
  }
  workload.results[0].outcome = Outcome::WrongBytes;
  auto run = run_with({workload, workload});
  run.file = run.started = run.finished = run.command = run.version = run.commit = bad;
  run.machine = run.software = run.home = {{bad, bad}, {"cpu", bad}, {"file system", bad}};
  const auto page = report_page(std::vector{run, run}, bad);
  EXPECT_THAT(page, Not(HasSubstr("<x>")));
  EXPECT_THAT(page, Not(HasSubstr("\"'")));
  EXPECT_THAT(page, HasSubstr("&quot;&#39;&gt;&lt;x&gt;&amp;"));
}

TEST(Page, WrongBytesStandAtTheTopAndHaveNoFigure) {
  auto workload = workload_of("w");
  workload.results[1].outcome = Outcome::WrongBytes;
  const auto page = page_of(run_with({workload}));
  EXPECT_THAT(page, HasSubstr("<b>Wrong bytes</b>"));
  EXPECT_THAT(page, HasSubstr(R"(<span class="note">wrong bytes</span>)"));
  EXPECT_THAT(page, Not(HasSubstr(R"(class="w1" width=)"))) << "no bar is drawn of it";
}

// The banner says that no figure of these is shown.
TEST(Page, NoTimelineOfAWayWithWrongBytesIsDrawn) {
  auto workload = workload_of("w");
  for (const auto* way : {"native", "forebay"})
    workload.timelines.push_back({.way = way, .round = 1, .spans = {{0, "write", 0, 1}}});
  EXPECT_THAT(page_of(run_with({workload})), HasSubstr("forebay: 1 ranks"));
  workload.results[1].outcome = Outcome::WrongBytes;
  const auto page = page_of(run_with({workload}));
  EXPECT_THAT(page, HasSubstr("native: 1 ranks"));
  EXPECT_THAT(page, Not(HasSubstr("forebay: 1 ranks")));
}

// It began where the last span ended, and spans ended early.
TEST(Page, TheDrainTailBeginsAtTheLastClose) {
  auto workload = workload_of("w");
  workload.timelines = {{.way = "forebay", .round = 1, .spans = {{0, "write", 0, 1}}, .closed = 3}};
  workload.results[1].times["tail"] = 2;
  EXPECT_THAT(page_of(run_with({workload})), HasSubstr("rank 0: tail from 3.00 s to 5.00 s"));
}

TEST(Page, ARunThatDidNotEndIsMarked) {
  auto run = run_with({workload_of("w")});
  run.completeness = Completeness::Interrupted;
  EXPECT_THAT(page_of(run), HasSubstr("This run was interrupted"));
  run.completeness = Completeness::CutOff;
  EXPECT_THAT(page_of(run), HasSubstr("This file has no end"));
}

TEST(Page, AnEmptyRunAndAWorkloadWithoutResults) {
  EXPECT_THAT(page_of(run_with({})), HasSubstr("There are no results in it."));
  Workload workload;
  workload.name = workload.title = "w";
  EXPECT_THAT(page_of(run_with({workload})), HasSubstr(">w</"));
  workload.ways = {"native", "forebay"};
  workload.rounds = 3;
  EXPECT_THAT(page_of(run_with({workload})), HasSubstr("no round ended well</b>; 3 rounds not run"));
}

TEST(Page, WorkloadsOfAGroupAreOneChart) {
  auto first = workload_of("a");
  auto second = workload_of("b");
  first.group = second.group = "A sweep";
  first.x = "0.5";
  second.x = "2";
  first.x_number = 0.5;
  second.x_number = 2;
  first.x_name = second.x_name = "ratio";
  const auto page = page_of(run_with({first, second}));
  EXPECT_THAT(page, HasSubstr("<h3>A sweep</h3>"));
  EXPECT_THAT(page, HasSubstr(R"(<div class="x-name">ratio</div>)"));
  EXPECT_THAT(page, HasSubstr(R"(<details class="workload" id="r1w2">)"));
}

TEST(Page, SeveralRunsAreApart) {
  const std::vector runs{run_with({workload_of("a")}), run_with({workload_of("a")})};
  const auto page = report_page(runs, "forebay test");
  EXPECT_THAT(page, HasSubstr("Run 1 of 2"));
  EXPECT_THAT(page, HasSubstr(R"(id="r2w1")"));
}

TEST(Page, NeedsNothingFromOutside) {
  const auto page = page_of(run_with({workload_of("w")}));
  for (const auto* word : {"<script", "src=", "http:", "https:", "@import", "<link"}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
}

}  // namespace
}  // namespace forebay::report
