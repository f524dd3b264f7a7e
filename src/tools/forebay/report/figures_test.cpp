#include "tools/forebay/report/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/forebay/report/sample.hpp"

namespace forebay::report {
namespace {

using ::testing::ElementsAre;

TEST(Figures, MedianAndExtremes) {
  EXPECT_FALSE(spread_of({}));
  const auto one = spread_of({3});
  EXPECT_EQ(one->median, 3);
  EXPECT_EQ(one->count, 1u);
  const auto even = spread_of({4, 1, 2, 9});
  EXPECT_EQ(even->median, 3);
  EXPECT_EQ(even->low, 1);
  EXPECT_EQ(even->high, 9);
}

TEST(Figures, OnlyRoundsThatEndedWellCount) {
  auto workload = workload_of("w");
  workload.results[1].outcome = Outcome::Interrupted;
  workload.results[1].times["observed"] = 1000;
  workload.results.pop_back();
  const auto ways = figures_of(workload);
  ASSERT_EQ(ways.size(), 2u);
  EXPECT_EQ(ways[0].good, 3u);
  EXPECT_EQ(ways[1].good, 1u);
  EXPECT_EQ(ways[1].interrupted, 1u);
  EXPECT_EQ(ways[1].missing, 1u);
  EXPECT_DOUBLE_EQ(ways[1].time("observed")->median, 0.52);
  EXPECT_TRUE(ways[1].trusted());
}

TEST(Figures, OneWrongByteIsTheEndOfTrust) {
  auto workload = workload_of("w");
  workload.results[1].outcome = Outcome::WrongBytes;
  workload.results[1].error = "byte 7";
  workload.results[3].outcome = Outcome::WrongBytes;
  workload.results[3].error = "byte 7";
  const auto ways = figures_of(workload);
  EXPECT_FALSE(ways[1].trusted());
  EXPECT_EQ(ways[1].wrong, 2u);
  EXPECT_THAT(ways[1].errors, ElementsAre("byte 7"));
}

TEST(Figures, RatesAreMadeFromBytesAndTimesWhereTheFileHasNone) {
  auto workload = workload_of("w", 1);
  workload.results[0].observed_rate.reset();
  workload.results[0].times["raw"] = 0;
  const auto ways = figures_of(workload);
  EXPECT_DOUBLE_EQ(ways[0].observed_rate->median, 1e9 / 5.1);
  EXPECT_FALSE(ways[0].raw_rate) << "nothing is divided by zero";
}

TEST(Figures, TheShareThatWasCheckedIsTheSmallestOfAllRounds) {
  auto workload = workload_of("w");
  workload.results[2].verified_bytes = 5e8;
  workload.results[5].verified_bytes.reset();
  const auto ways = figures_of(workload);
  EXPECT_EQ(ways[0].checked, 0.5);
  EXPECT_EQ(ways[1].checked, Number()) << "one round does not say";
}

TEST(Figures, IterationsOfRoundsThatDifferInLength) {
  auto workload = workload_of("w", 2);
  workload.results[0].iterations = {{"epoch 1", 2, 100}, {"epoch 2", 1, 100}};
  workload.results[2].iterations = {{"epoch 1", 4, 100}};
  const auto ways = figures_of(workload);
  ASSERT_EQ(ways[0].iterations.size(), 2u);
  EXPECT_EQ(ways[0].iterations[0].name, "epoch 1");
  EXPECT_EQ(ways[0].iterations[0].rate->low, 25);
  EXPECT_EQ(ways[0].iterations[0].rate->high, 50);
  EXPECT_EQ(ways[0].iterations[1].rate->count, 1u);
}

TEST(Figures, TheBaselineIsNativeOrTheFirst) {
  auto workload = workload_of("w");
  workload.ways = {"forebay", "native"};
  EXPECT_EQ(baseline_of(figures_of(workload))->way, "native");
  workload.ways = {"forebay", "other"};
  EXPECT_EQ(baseline_of(figures_of(workload))->way, "forebay");
  EXPECT_EQ(baseline_of({}), nullptr);
}

TEST(Figures, TheWholeEndsWhenTheBytesAreHome) {
  auto workload = workload_of("w", 1);
  workload.results[1].times["tail"] = 1.5;
  workload.results[1].remark = "nothing went through the buffer";
  const auto ways = figures_of(workload);
  EXPECT_EQ(ways[0].time("whole")->median, 13);
  EXPECT_EQ(ways[1].time("whole")->median, 9.5);
  EXPECT_THAT(ways[1].remarks, ElementsAre("nothing went through the buffer"));
}

TEST(Figures, WhatReadsNothingHasNoHitRate) {
  auto workload = workload_of("w", 1);
  auto& round = workload.results[1];
  round.hit_rate = round.hit_bytes = round.miss_bytes = 0;
  EXPECT_FALSE(figures_of(workload)[1].hit_rate);
  round.hit_bytes = 3;
  round.miss_bytes = 1;
  EXPECT_EQ(figures_of(workload)[1].hit_rate->median, 0.75);
}

double phase(const std::vector<Phase>& phases, std::string_view name) {
  for (const auto& each : phases) {
    if (each.name == name) return each.seconds;
  }
  return -1;
}

TEST(Figures, PhasesMakeUpTheTotal) {
  WayFigures figures;
  const auto set = [&](const char* name, double seconds) {
    figures.times[name] = {seconds, seconds, seconds, 1};
  };
  set("compute", 4);
  set("create", 0.25);
  set("open", 0.25);
  set("raw", 2);
  set("flush", 0);
  set("close", 0.5);
  set("observed", 3);
  set("tail", 1);
  set("metadata", 0.5);
  set("whole", 10);
  const auto phases = phases_of(figures);
  EXPECT_EQ(phase(phases, "create, open"), 0.5);
  EXPECT_EQ(phase(phases, "metadata"), -1) << "it is in create and open already";
  EXPECT_EQ(phase(phases, "flush"), -1) << "took no time";
  EXPECT_EQ(phase(phases, "other"), 2);
  set("observed", 3.3);
  EXPECT_NEAR(phase(phases_of(figures), "metadata"), 0.3, 1e-9);
  EXPECT_TRUE(phases_of(WayFigures()).empty());
}

}  // namespace
}  // namespace forebay::report
