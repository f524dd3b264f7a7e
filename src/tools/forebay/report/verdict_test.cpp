#include "tools/forebay/report/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/forebay/report/sample.hpp"

namespace forebay::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Verdict second_of(const Workload& workload) { return judge(figures_of(workload)).at(1); }

// Rounds of `forebay` wait this long, those of native 5.1, 5.2 and 5.3 s.
Workload waiting(double seconds, double total = 8) {
  auto workload = workload_of("w");
  for (auto& round : workload.results) {
    if (round.way == "forebay") round = round_of("forebay", round.number, seconds, total);
  }
  return workload;
}

TEST(Verdict, SeveralTimesFaster) {
  const auto verdict = second_of(waiting(0.65));
  EXPECT_EQ(verdict.judgement, Judgement::Faster);
  EXPECT_EQ(verdict.brief, "8.00 times");
  EXPECT_EQ(verdict.words(),
            "8.00 times native's observed rate; the program waited 650 ms instead of 5.20 s; total 8.00 s "
            "against 13.0 s; every byte was checked");
  EXPECT_DOUBLE_EQ(verdict.ratio->low, 5.1 / 0.65);
  EXPECT_DOUBLE_EQ(verdict.ratio->high, 5.3 / 0.65);
}

TEST(Verdict, ALittleFasterAndALittleSlower) {
  EXPECT_THAT(second_of(waiting(4.6)).words(), HasSubstr("faster than native by 13.0 %;"));
  const auto slower = second_of(waiting(5.9));
  EXPECT_EQ(slower.judgement, Judgement::Slower);
  EXPECT_THAT(slower.words(), HasSubstr("slower than native by 11.9 %;"));
  EXPECT_EQ(slower.brief, "11.9 % slower");
  EXPECT_THAT(second_of(waiting(52)).words(), HasSubstr("slower than native, which is 10.0 times as fast"));
}

TEST(Verdict, WithinTheSpreadThereIsNoDifference) {
  const auto verdict = second_of(waiting(5.29));
  EXPECT_EQ(verdict.judgement, Judgement::Same);
  EXPECT_THAT(verdict.words(), HasSubstr("no difference from native within the spread"));
}

TEST(Verdict, ATotalThatIsLongerIsSaidOfWhoeverHidesIt) {
  EXPECT_THAT(second_of(waiting(0.5, 19.5)).words(),
              HasSubstr("total 19.5 s against 13.0 s, which is 50.0 % longer"));
  EXPECT_THAT(second_of(waiting(0.5, 12)).words(), Not(HasSubstr("longer")));
}

TEST(Verdict, WrongBytesMakeEverythingElseWorthless) {
  auto workload = waiting(0.5);
  workload.results[3].outcome = Outcome::WrongBytes;
  workload.results[3].error = "particle 12 of step 3 is 7, should be 8";
  const auto verdict = second_of(workload);
  EXPECT_EQ(verdict.judgement, Judgement::Wrong);
  EXPECT_FALSE(verdict.ratio);
  EXPECT_EQ(verdict.words(),
            "wrong bytes in 1 round: the figures of this way are worth nothing (particle 12 of step 3 is 7, "
            "should be 8)");
}

TEST(Verdict, NothingIsComparedWithABaselineThatIsWrong) {
  auto workload = waiting(0.5);
  workload.results[0].outcome = Outcome::WrongBytes;
  const auto verdict = second_of(workload);
  EXPECT_EQ(verdict.judgement, Judgement::Alone);
  EXPECT_THAT(verdict.words(), HasSubstr("nothing to compare with: native has no figures"));
}

TEST(Verdict, OneRoundHasNoSpread) {
  EXPECT_THAT(second_of(workload_of("w", 1)).words(), HasSubstr("one round only"));
}

TEST(Verdict, RoundsThatAreMissingAreNamed) {
  auto workload = workload_of("w");
  workload.results.pop_back();
  workload.results[1].outcome = Outcome::Failed;
  workload.results[1].error = "rank 2 ended with signal 9";
  EXPECT_THAT(second_of(workload).words(),
              HasSubstr("; 1 round failed; 1 round not run (rank 2 ended with signal 9)"));
  workload.results.clear();
  EXPECT_EQ(second_of(workload).judgement, Judgement::Unfinished);
  EXPECT_EQ(second_of(workload).words(), "no round ended well; 3 rounds not run");
}

TEST(Verdict, WhatWasNotCheckedIsNotSaidToBe) {
  auto workload = workload_of("w");
  for (auto& round : workload.results) round.verified_bytes = 0;
  EXPECT_THAT(second_of(workload).words(), HasSubstr("; no byte was checked"));
  for (auto& round : workload.results) round.verified_bytes = 25e7;
  EXPECT_THAT(second_of(workload).words(), HasSubstr("; 25.0 % of the bytes were checked"));
  for (auto& round : workload.results) round.verified_bytes.reset();
  EXPECT_THAT(second_of(workload).words(), HasSubstr("; not known to be checked"));
}

// That which moves no bytes was said to have been checked, whatever was.
TEST(Verdict, WithoutBytesNothingWasCheckedUnlessItWas) {
  auto workload = workload_of("w");
  for (auto& round : workload.results) round.bytes = round.verified_bytes = 0;
  EXPECT_THAT(second_of(workload).words(), HasSubstr("; no byte was checked"));
  for (auto& round : workload.results) round.verified_bytes = 7;
  EXPECT_THAT(second_of(workload).words(), HasSubstr("; every byte was checked"));
}

// A metadata workload moves no bytes.
TEST(Verdict, WithoutBytesTheTimesAreCompared) {
  auto workload = workload_of("w");
  for (auto& round : workload.results) {
    round.observed_rate = 0;
    round.bytes = 0;
  }
  const auto verdict = second_of(workload);
  EXPECT_EQ(verdict.judgement, Judgement::Faster);
  EXPECT_THAT(verdict.words(), HasSubstr("10.0 times native's speed"));
}

TEST(Verdict, AWayAloneAndAWayWithoutFigures) {
  auto workload = workload_of("w");
  workload.ways = {"forebay"};
  EXPECT_EQ(judge(figures_of(workload)).at(0).judgement, Judgement::Alone);
  workload.ways = {"native", "forebay"};
  for (auto& round : workload.results) {
    round.observed_rate.reset();
    round.times.clear();
  }
  EXPECT_EQ(second_of(workload).judgement, Judgement::Alone);
  EXPECT_TRUE(judge({}).empty());
}

// It transfers nothing: no figure of it is a result.
TEST(Verdict, TheNullWayShowsTheKernelsOwnCost) {
  auto workload = workload_of("w", 1);
  workload.ways = {"native", "null"};
  workload.results[1].way = "null";
  workload.results[0].times["observed"] = 5;
  workload.results[0].times["raw"] = 3;
  workload.results[1].times["raw"] = 0.05;
  workload.results[1].times["own"] = 0.025;
  const auto verdict = second_of(workload);
  EXPECT_EQ(verdict.judgement, Judgement::OwnCost);
  EXPECT_EQ(verdict.words(), "the kernel's own part of what the program waited in native is 1.50 %");
  const std::vector<std::vector<Verdict>> all{judge(figures_of(workload))};
  EXPECT_TRUE(overall(all).empty());
}

TEST(Verdict, OverallCountsWorkloads) {
  const std::vector all{judge(figures_of(waiting(0.65))), judge(figures_of(waiting(5.29))),
                        judge(figures_of(waiting(10.4)))};
  EXPECT_THAT(
      overall(all),
      ElementsAre("forebay, 3 workloads: faster in 1, no difference in 1, slower in 1; 0.500 to 8.00 times "
                  "the baseline's observed rate, median 0.983"));
  EXPECT_TRUE(overall({}).empty());
}

}  // namespace
}  // namespace forebay::report
