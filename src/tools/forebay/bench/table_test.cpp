#include "tools/forebay/bench/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RoundResult round_of(double observed, const std::string& status = "ok") {
  RoundResult result;
  result.status = status;
  if (status != "ok") result.error = "it was \"so\", and so";
  result.bytes = 2'000'000;
  result.verified_bytes = status == "ok" ? result.bytes : 0;
  result.times = {{"observed", observed}, {"total", observed}, {"raw", observed / 2}};
  return result;
}

WorkloadRounds two_ways(std::vector<RoundResult> second, unsigned planned = 2) {
  WorkloadRounds all{.workload = {.name = "w", .kernel = "write", .file = "f"}, .planned = planned};
  all.ways.push_back({.way = {}, .rounds = {round_of(2), round_of(4)}});
  all.ways.push_back(
      {.way = {.kind = Way::Kind::kForebay, .name = "forebay, \"deep\""}, .rounds = std::move(second)});
  return all;
}

TEST(BenchTable, TheCsvQuotesWhatHasACommaOrAQuote) {
  const auto csv = bench_csv(two_ways({round_of(1), round_of(1)}));
  EXPECT_THAT(csv, HasSubstr("way, native, \n"));
  EXPECT_THAT(csv, HasSubstr("way, \"forebay, \"\"deep\"\"\", \n"));
  EXPECT_THAT(csv, HasSubstr("observed rate, 2.000000, MB/s"));
  EXPECT_THAT(csv, Not(HasSubstr("status")));
}

TEST(BenchTable, TheCsvMarksRoundsThatAreMissing) {
  const auto stopped = bench_csv(two_ways({round_of(1)}));
  EXPECT_THAT(stopped, HasSubstr("status, interrupted: the run was stopped, \nrounds, 1, of 2\n"));
  EXPECT_THAT(stopped, HasSubstr("observed rate, 2.000000, MB/s")) << "what there is of it";
  const auto none = bench_csv(two_ways({}));
  EXPECT_THAT(none, HasSubstr("rounds, 0, of 2\n"));
  EXPECT_THAT(none, Not(HasSubstr("nan")));
  const auto failed = bench_csv(two_ways({round_of(1), round_of(0, "failed")}));
  EXPECT_THAT(failed, HasSubstr("status, \"failed: it was \"\"so\"\", and so\", \nrounds, 1, of 2\n"));
  const auto wrong = bench_csv(two_ways({round_of(1), round_of(0, "wrong_bytes")}));
  EXPECT_THAT(wrong, HasSubstr("status, \"wrong_bytes: "));
  EXPECT_THAT(wrong, Not(HasSubstr("observed rate, 2.000000, MB/s")));
}

// Of the parts that were measured, not of any time that passes here.
TEST(BenchTable, TheKernelsOwnPartIsMadeOfTheNullWaysParts) {
  auto all = two_ways({round_of(1), round_of(1)});
  all.ways.back().way = {.kind = Way::Kind::kNull, .name = "null"};
  for (auto& round : all.ways.back().rounds) round.times = {{"raw", 0.03}, {"own", 0.015}, {"observed", 9}};
  EXPECT_THAT(bench_table({all}, true),
              HasSubstr("w, null: the kernel's own part of what the program waited in native is 1.50 %\n"));
}

TEST(BenchTable, NothingIsCalledVerifiedThatWasNot) {
  auto all = two_ways({round_of(1), round_of(1)});
  EXPECT_THAT(bench_table({all}, true), HasSubstr("every element as it was written"));
  for (auto& way : all.ways) {
    for (auto& round : way.rounds) round.verified_bytes = 0;
  }
  EXPECT_THAT(bench_table({all}, true), HasSubstr("Nothing was verified.\n"));
  EXPECT_THAT(bench_table({}, true), HasSubstr("Nothing was verified.\n"));
}

}  // namespace
}  // namespace forebay
