#include "tools/forebay/report/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tools/forebay/report/sample.hpp"

namespace forebay::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::string kWorkloadLine =
    R"({"kind":"workload","workload":"w","title":"A title","ways":["native"],"rounds":3,"x":0.5,"ranks":4})"
    "\n";
const std::string kResultLine =
    R"({"kind":"result","workload":"w","way":"native","round":1,"status":"ok","bytes":100,)"
    R"("times":{"total":2,"raw":null},"rates":{"observed":50},"home":{"writes":7},"new member":[1]})"
    "\n";
const std::string kEndLine = R"({"kind":"end","finished":"later","status":"complete"})"
                             "\n";

std::string message_of(const std::string& text) {
  const auto runs = parse_results(text, "file");
  return runs ? "" : runs.error().message;
}

TEST(Results, AreReadByTheirNames) {
  const auto runs = parse_results(kRunLine + kWorkloadLine + kResultLine + kEndLine, "file");
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 1u);
  const auto& run = runs->front();
  EXPECT_EQ(run.completeness, Completeness::Complete);
  EXPECT_EQ(run.finished, "later");
  ASSERT_EQ(run.workloads.size(), 1u);
  const auto& workload = run.workloads.front();
  EXPECT_EQ(workload.title, "A title");
  EXPECT_EQ(workload.x, "0.5");
  EXPECT_EQ(workload.x_number, 0.5);
  EXPECT_EQ(workload.ranks, 4);
  ASSERT_EQ(workload.results.size(), 1u);
  const auto& round = workload.results.front();
  EXPECT_EQ(round.bytes, 100);
  EXPECT_EQ(round.observed_rate, 50);
  EXPECT_EQ(round.raw_rate, Number());
  EXPECT_EQ(round.home_writes, 7);
  EXPECT_EQ(round.time("total"), 2);
  EXPECT_EQ(round.time("raw"), Number());
}

TEST(Results, WhatIsNotKnownIsIgnored) {
  const auto runs =
      parse_results(kRunLine + "\n{\"kind\":\"weather\",\"of\":\"tomorrow\"}\n" + kEndLine, "file");
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_TRUE(runs->front().workloads.empty());
}

TEST(Results, NumbersOfAnotherTypeOrBelowZeroAreMissing) {
  const auto runs = parse_results(
      kRunLine + R"({"kind":"result","workload":"w","way":"a","status":"ok","bytes":"many","operations":-1,)"
                 R"("times":[],"rates":7,"iterations":[1,{"seconds":2}],"round":1e300})"
                 "\n",
      "file");
  ASSERT_TRUE(runs) << runs.error().message;
  const auto& round = runs->front().workloads.front().results.front();
  EXPECT_EQ(round.bytes, Number());
  EXPECT_EQ(round.operations, Number());
  EXPECT_TRUE(round.times.empty());
  ASSERT_EQ(round.iterations.size(), 1u);
  EXPECT_EQ(round.iterations[0].name, "1");
}

TEST(Results, AWorkloadThatWasNotAnnouncedIsThereAllTheSame) {
  const auto runs = parse_results(kRunLine + kResultLine, "file");
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->front().workloads.front().title, "w");
  EXPECT_THAT(runs->front().workloads.front().ways, ElementsAre("native"));
}

TEST(Results, AWrongLineIsNamed) {
  EXPECT_EQ(message_of(kRunLine + "{oops}\n" + kEndLine), "file:2: the line is no JSON");
  EXPECT_EQ(message_of(kRunLine + "[]\n"), "file:2: the line is no JSON object");
  EXPECT_EQ(message_of(kRunLine + "{}\n"), "file:2: the line has no kind");
  EXPECT_EQ(message_of(kRunLine + "{\"kind\":\"result\"}\n"), "file:2: the line is a result of no workload");
  EXPECT_EQ(message_of(kRunLine + "{\"kind\":\"result\",\"workload\":\"w\"}\n"),
            "file:2: the line is a result of no way");
  EXPECT_EQ(
      message_of(kRunLine + "{\"kind\":\"result\",\"workload\":\"w\",\"way\":\"a\",\"status\":\"fine\"}\n"),
      "file:2: the line has the unknown status 'fine'");
  EXPECT_THAT(message_of(kResultLine), HasSubstr("file:1: the line is a result before any run"));
  EXPECT_THAT(message_of("{\"kind\":\"run\",\"format\":2}\n"), HasSubstr("format '2'"));
  EXPECT_THAT(message_of(""), HasSubstr("no results"));
  EXPECT_THAT(message_of("GIF89a"), HasSubstr("file:1"));
}

TEST(Results, AFileThatWasCutOffIsMarkedAndKeepsWhatItHas) {
  const auto whole = kRunLine + kWorkloadLine + kResultLine;
  const auto runs = parse_results(whole + kResultLine.substr(0, 40), "file");
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(runs->front().completeness, Completeness::CutOff);
  EXPECT_EQ(runs->front().workloads.front().results.size(), 1u);
  const auto said = parse_results(whole + R"({"kind":"end","status":"interrupted"})", "file");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->front().completeness, Completeness::Interrupted);
}

// Wherever a file ends, it is either read or refused with a sentence.
TEST(Results, EveryPrefixOfAFileIsReadOrRefused) {
  const auto whole = kRunLine + kWorkloadLine + kResultLine + kEndLine;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto runs = parse_results(whole.substr(0, length), "file");
    EXPECT_EQ(runs.has_value(), length >= kRunLine.size() - 1) << length;
  }
}

TEST(Results, SeveralRunsInOneFileAreApart) {
  const auto runs =
      parse_results(kRunLine + kResultLine + kEndLine + kRunLine + kResultLine + kResultLine, "file");
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[0].workloads[0].results.size(), 1u);
  EXPECT_EQ((*runs)[1].workloads[0].results.size(), 2u);
}

TEST(Results, TimelinesAreInOrderAndHaveNoSpanThatEndsBeforeItBegins) {
  const auto runs = parse_results(
      kRunLine +
          R"({"kind":"timeline","workload":"w","way":"a","round":1,"spans":[{"rank":1,"what":"write","begin":1,"end":2},)"
          R"({"rank":1,"what":"write","begin":3,"end":2},{"rank":1}],"fill":[{"at":2,"used":5},{"at":1,"used":4}]})"
          "\n",
      "file");
  ASSERT_TRUE(runs);
  const auto& timeline = runs->front().workloads.front().timelines.front();
  ASSERT_EQ(timeline.spans.size(), 1u);
  EXPECT_EQ(timeline.spans[0].rank, 1);
  ASSERT_EQ(timeline.fill.size(), 2u);
  EXPECT_EQ(timeline.fill[0].used, 4);
}

TEST(Results, MachineAndHomeAreInUnitsForPeople) {
  const auto runs = parse_results(
      R"({"kind":"run","format":1,"machine":{"memory_bytes":8e9,"cores":2,"load":10.56103515625},)"
      R"("home":{"file_system":"slowfs","write_bandwidth":2e8,"read_bandwidth":0,"latency_ns":2000000}})",
      "file");
  ASSERT_TRUE(runs);
  EXPECT_THAT(runs->front().machine,
              ElementsAre(Pair("cores", "2"), Pair("load", "10.6"), Pair("memory", "8.00 GB")));
  EXPECT_THAT(runs->front().home,
              ElementsAre(Pair("file system", "slowfs"), Pair("latency", "2.00 ms"),
                          Pair("read bandwidth", "unlimited"), Pair("write bandwidth", "200 MB/s")));
}

TEST(Results, AFileThatIsNotThere) {
  const auto runs = read_results("/nonexistent/results.jsonl");
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().code, ENOENT);
  EXPECT_THAT(runs.error().message, HasSubstr("/nonexistent/results.jsonl"));
}

}  // namespace
}  // namespace forebay::report
