#include "tools/forebay/run/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

TEST(RunFigures, AreWhatTheRunAdded) {
  Counters before{};
  Counters after{};
  before.staged_bytes = 100;
  after.staged_bytes = 350;
  after.hit_bytes = 1000;
  after.home_write_ns = 5'000'000'000;
  after.home_wait_ns = 1'000'000'000;
  after.wait_ns = 500'000'000;
  after.home_read_bytes = 200;
  after.home_read_ns = 400'000'000;
  const auto figures = figures_of(before, after);
  EXPECT_EQ(figures.staged, 250U);
  EXPECT_EQ(figures.hidden, 3500ms);
  EXPECT_EQ(figures.saved, 3500ms + 2s) << "five times what was read from home was hit";
}

TEST(RunFigures, NothingHiddenIsNothingSaved) {
  Counters after{};
  after.home_write_ns = 10;
  after.home_wait_ns = 20;
  EXPECT_EQ(figures_of(Counters{}, after).saved, 0ns);
}

TEST(RunReport, SaysWhereProgramsWaited) {
  RunReport report{.buffer = "b", .homes = {"/h"}, .elapsed = 10s};
  report.figures.staged = 1024;
  report.figures.waited = 6s;
  report.figures.in_closes = 3s;
  report.figures.for_room = 1s;
  EXPECT_THAT(report_text(report),
              AllOf(HasSubstr("closes waited 3s until their files were home (--on-close detach"),
                    HasSubstr("fsync, locks, renames and the like waited 2s"),
                    HasSubstr("writes waited 1s for room in the tiers")));
  report.elapsed = 200s;
  EXPECT_THAT(report_text(report), Not(HasSubstr("waited"))) << "nobody notices it";
}

TEST(RunReport, SaysWhenNothingWasDone) {
  const RunReport report{.buffer = "b", .homes = {"/usr"}};
  EXPECT_EQ(report_text(report), "forebay: no file of /usr was buffered\n");
}

TEST(RunReport, AHomeThatIsNotThereIsNamed) {
  const RunReport report{.buffer = "b", .homes = {"/h"}};
  EXPECT_EQ(report_text(report), "forebay: no file of /h was buffered\nforebay: /h is no directory\n");
}

TEST(RunReport, NamesWhatIsNotHome) {
  RunReport report{.buffer = "b", .homes = {"/h"}};
  report.ending.status.emplace();
  report.ending.status->files.push_back({.path = "/h/f\n", .unsaved = 5});
  report.ending.trouble = "no space";
  EXPECT_EQ(report_text(report),
            "forebay: 5B in 1 file(s) are not home, and stay in buffer b: no space\n"
            "forebay:   5B of /h/f\\x0a\n"
            "forebay: once that is mended `forebay recover --buffer b` carries them home; `forebay clean "
            "--buffer b "
            "--force` gives them up\n");
  report.ending.detached = true;
  EXPECT_THAT(report_text(report), HasSubstr("on their way home in the background"));
  EXPECT_THAT(report_json(report), HasSubstr(R"("unsaved":[{"path":"/h/f\n","bytes":5}])"));
}

TEST(RunReport, WhatALivingProcessCarriesHomeIsNotLeft) {
  RunReport report{.buffer = "b", .homes = {"/h"}};
  report.ending.status.emplace();
  report.ending.status->files.push_back({.path = "/h/f", .unsaved = 5, .carried = true});
  EXPECT_THAT(report_text(report), Not(HasSubstr("not home")));
  EXPECT_THAT(report_json(report), HasSubstr(R"("unsaved":[])"));
}

TEST(RunReport, SaysWhatWasRecovered) {
  EXPECT_EQ(
      report_leftovers({{.buffer = "run-1", .carried = 2048, .files = 2}}),
      "forebay: recovered 2.0KiB in 2 file(s) that an earlier run left in buffer run-1 when it was killed\n");
  EXPECT_EQ(report_leftovers({}), "");
}

}  // namespace
}  // namespace forebay
