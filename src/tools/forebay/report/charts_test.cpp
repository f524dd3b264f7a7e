// What is drawn at the edges: no rounds, one, nothing but zeros, numbers of any size, names that are markup.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/forebay/report/bar_chart.hpp"
#include "tools/forebay/report/line_chart.hpp"
#include "tools/forebay/report/timeline_chart.hpp"
#include "tools/forebay/report/units.hpp"

namespace forebay::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Palette kPalette{};

MATCHER(is_sound, "has no number that is none, and no markup of a name") {
  return arg.find("nan") == std::string::npos && arg.find("inf") == std::string::npos &&
         arg.find("<x>") == std::string::npos;
}

Figure one(double value) { return spread_of({value}); }

TEST(BarChart, TheLargestRoundIsTheWidth) {
  const auto chart =
      bar_chart("t", {{"native", spread_of({1, 2, 4})}, {"forebay", one(3)}}, kPalette, rate_text);
  EXPECT_THAT(chart, HasSubstr(R"(class="w0" width="50%")"));
  EXPECT_THAT(chart, HasSubstr(R"(class="w1" width="75%")"));
  EXPECT_THAT(chart, HasSubstr("native: median 2.00 B/s, 1.00 B/s to 4.00 B/s in 3 rounds"));
  EXPECT_THAT(chart, HasSubstr("forebay: 3.00 B/s, one round"));
}

TEST(BarChart, Extremes) {
  EXPECT_THAT(bar_chart("t", {}, kPalette, rate_text), IsEmpty());
  EXPECT_THAT(bar_chart("t", {{"a", one(0)}}, kPalette, rate_text), IsEmpty());
  EXPECT_THAT(bar_chart("t", {{"a", {}}}, kPalette, rate_text), IsEmpty());
  EXPECT_THAT(
      bar_chart("<x>", {{"<x>", one(1e-300)}, {"b", one(1e300)}, {"c", {}, "<x>"}}, kPalette, rate_text),
      is_sound());
}

TEST(PhaseChart, PhasesFollowEachOther) {
  const auto chart = phase_chart(
      {{"native", one(5), {{"compute", 1}, {"transfer", 3}}}, {"forebay", {}, {{"compute", 1}, {"tail", 1}}}},
      kPalette);
  EXPECT_THAT(chart, HasSubstr(R"(class="p-transfer" x="25%" width="75%")"));
  EXPECT_THAT(chart, HasSubstr(R"(class="p-tail" x="25%" width="25%")"));
  EXPECT_THAT(chart, HasSubstr("native: compute 1.00 s, transfer 3.00 s"));
  EXPECT_THAT(phase_chart({{"native", {}, {}}}, kPalette), IsEmpty());
}

TEST(RatioChart, Extremes) {
  Verdict verdict;
  verdict.way = "<x>";
  EXPECT_THAT(ratio_chart({}, kPalette), IsEmpty());
  EXPECT_THAT(ratio_chart({{"<x>", "w1", verdict}}, kPalette), is_sound());
  verdict.ratio = Ratio{1e-12, 0, 1e12};
  EXPECT_THAT(ratio_chart({{"<x>", "w1", verdict}}, kPalette), is_sound());
}

LineChart lines(std::vector<LinePoint> points) { return {"<x>", "<x>", {{"<x>", std::move(points)}}, true}; }

TEST(LineChart, NumbersStandWhereTheyAre) {
  const auto chart = line_chart(lines({{"0", 0, one(1)}, {"1", 1, one(2)}, {"4", 4, one(3)}}), kPalette);
  EXPECT_THAT(chart, HasSubstr(R"(x="25%")"));
  EXPECT_THAT(chart, is_sound());
}

TEST(LineChart, NamesStandInTheirOrder) {
  const auto chart = line_chart(lines({{"CC", {}, one(1)}, {"CI", {}, one(2)}}), kPalette);
  EXPECT_THAT(chart, HasSubstr(R"(x="75%")"));
  EXPECT_THAT(chart, HasSubstr("<span>CI</span>"));
}

// Names that are longer than their share are broken into lines; where there are many, only some are shown.
TEST(LineChart, NamesAreTextBeneathTheDrawing) {
  const auto long_names =
      line_chart(lines({{"a read of everything", {}, one(1)}, {"a read of a tenth", {}, one(2)}}), kPalette);
  EXPECT_THAT(long_names, HasSubstr(R"(<div class="x-ticks"><span>a read of everything</span><span>)"));
  std::vector<LinePoint> many;
  for (int i = 0; i < 20; ++i) many.push_back({std::to_string(i), {}, one(1)});
  EXPECT_THAT(line_chart(lines(many), kPalette), Not(HasSubstr("x-ticks")));
}

TEST(LineChart, WhatIsFarApartIsOnALogarithmicScale) {
  const auto far = line_chart(lines({{"1", 1, one(4e3)}, {"2", 2, one(250e6)}}), kPalette);
  EXPECT_THAT(far, HasSubstr("MB/s, on a logarithmic scale"));
  EXPECT_THAT(far, is_sound());
  EXPECT_THAT(line_chart(lines({{"1", 1, one(4e6)}, {"2", 2, one(8e6)}}), kPalette),
              Not(HasSubstr("logarithmic")));
}

TEST(LineChart, AMissingPointIsAGap) {
  const auto chart =
      line_chart(lines({{"1", 1, one(1)}, {"2", 2, one(1)}, {"3", 3, {}}, {"4", 4, one(1)}}), kPalette);
  std::size_t pieces = 0;
  for (auto at = chart.find("<polyline"); at != std::string::npos; at = chart.find("<polyline", at + 1))
    ++pieces;
  EXPECT_EQ(pieces, 2u);
  EXPECT_THAT(chart, HasSubstr("<td>3</td><td>–</td>"));
}

TEST(LineChart, Extremes) {
  EXPECT_THAT(line_chart(lines({{"1", 1, {}}}), kPalette), IsEmpty());
  EXPECT_THAT(line_chart({"t", "x", {}, true}, kPalette), IsEmpty());
  EXPECT_THAT(line_chart(lines({{"1", 1, one(1)}}), kPalette), is_sound());
  EXPECT_THAT(line_chart(lines({{"1", 1e-9, one(1e-300)}, {"2", 1e300, one(1e300)}}), kPalette), is_sound());
}

TEST(Timeline, NeighboursOfAKindAreOne) {
  const auto seen = visible_spans(
      {{0, "write", 2, 3}, {0, "write", 1, 2}, {0, "close", 3, 3.001}, {0, "compute", 5, 9}}, 0.01);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].begin, 1);
  EXPECT_EQ(seen[0].end, 3.001);
  EXPECT_EQ(seen[1].what, "compute");
}

// However long the run: the page must not grow with it.
TEST(Timeline, AMillionSpansAreFewRectangles) {
  Timeline timeline{"forebay", 1, {}, {}};
  for (int i = 0; i < 200'000; ++i) {
    timeline.spans.push_back({i % 100, i % 2 ? "write" : "compute", i * 1e-3, (i + 1) * 1e-3});
    timeline.fill.push_back({i * 1e-3, i * 1.0, i * 0.5});
  }
  const auto chart = timeline_chart({timeline}, kPalette);
  EXPECT_LT(chart.size(), 6'000'000u);
  EXPECT_THAT(chart, HasSubstr("the first 16 of 100 ranks"));
  EXPECT_THAT(chart, HasSubstr("100 ranks, 200 s from begin to end"));
}

TEST(Timeline, TiersAreStackedAndNamed) {
  Timeline timeline{.way = "forebay", .round = 1, .spans = {{0, "write", 0, 2}}, .tiers = {"memory", "<x>"}};
  timeline.fill = {{.at = 0, .used = 60, .unsaved = 10, .tiers = {40, 20}},
                   {.at = 2, .used = 100, .unsaved = 0, .tiers = {50, 50}}};
  const auto chart = timeline_chart({timeline}, kPalette);
  EXPECT_THAT(chart, HasSubstr(R"(<span class="legend-tier t0">memory</span>)"));
  EXPECT_THAT(chart, HasSubstr(R"(<span class="legend-tier t1">&lt;x&gt;</span>)"));
  // The second one lies upon the first: 40 of 100 and 60 of 100, on 70 pixels from above.
  EXPECT_THAT(chart, HasSubstr(R"(<polygon class="tier t1" points="0,70 0,28 1000,0 1000,70"/>)"));
  EXPECT_THAT(chart, HasSubstr(R"(<polygon class="tier t0" points="0,70 0,42 1000,35 1000,70"/>)"));
  EXPECT_LT(chart.find("tier t1\" points"), chart.find("tier t0\" points")) << "the lower one is above it";
}

TEST(Timeline, DrainingIsWhereBytesAreCarriedHome) {
  const auto spans = drain_spans({{.at = 1, .unsaved = 5, .drained = 0.0},
                                  {.at = 2, .unsaved = 9, .drained = 1.0},
                                  {.at = 3, .unsaved = 9, .drained = 2.0},
                                  {.at = 4, .unsaved = 1, .drained = 2.0},
                                  {.at = 5, .unsaved = 1, .drained = 3.0}});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].begin, 1) << "though more is staged than drained";
  EXPECT_EQ(spans[0].end, 3);
  EXPECT_EQ(spans[1].begin, 4);
  const auto old = drain_spans({{.at = 1, .unsaved = 5}, {.at = 2, .unsaved = 9}, {.at = 3, .unsaved = 2}});
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(old[0].begin, 2);
}

TEST(Timeline, Extremes) {
  EXPECT_THAT(timeline_chart({}, kPalette), IsEmpty());
  EXPECT_THAT(timeline_chart({{"a", 1, {}, {}}}, kPalette), IsEmpty());
  EXPECT_THAT(timeline_chart({{"a", 1, {{0, "write", 0, 0}}, {}}}, kPalette), IsEmpty());
  EXPECT_THAT(timeline_chart({{"<x>", 1, {{0, "<x>", 0, 1e300}}, {{1, 0, 0}}}}, kPalette), is_sound());
  EXPECT_THAT(timeline_chart({{"a", 1, {}, {{1, 5, 3}, {2, 5, 0}}}}, kPalette),
              HasSubstr("5 B used, 3 B of it"));
}

}  // namespace
}  // namespace forebay::report
