// Workloads that follow each other in one file: what one leaves is what the next one finds, and is verified.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.hpp"
#include "support/bench.hpp"
#include "support/places.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;

const std::string kTwoRanks = R"("mpi": {"command": "mpiexec.mpich", "ranks": "2"},)";

std::string one(const std::string& benchmark, const std::string& more = "") {
  return format_text(
      R"({{"benchmark": "{0}", "name": "{0}", "file": "test.h5", "configuration": {{"TIMESTEPS": "2", "DIM_1": "900"{1}}}}})",
      benchmark, more.empty() ? "" : ", " + more);
}

void expect_verified(const Bench& bench, const Ran& ran) {
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(bench.value("{x['status'] for x in l if x['kind'] == 'result'}"), "{'ok'}");
  EXPECT_EQ(bench.value("all(x['verified_bytes'] > 0 for x in l if x['kind'] == 'result')"), "True");
}

// The read accused all ways of wrong bytes: it looked for what was there before the overwrite.
TEST(BenchSequence, AReadAfterAnOverwriteFindsWhatThatWrote) {
  const Bench bench(one("write") + "," + one("overwrite") + "," + one("read"), kTwoRanks);
  expect_verified(bench, bench.run({"--repeat", "2"}));
  // The same alone: the file is made as those two would have left it.
  expect_verified(bench, bench.run({"--only", "read"}));
}

constexpr const char* kStrided =
    R"("FILE_PATTERN": "STRIDED", "STRIDE_SIZE": 9, "BLOCK_SIZE": 4, "BLOCK_CNT": 100)";

// What nobody wrote was taken for wrong bytes.
TEST(BenchSequence, AReadOfOtherElementsThanAStridedWriteFindsNothingThere) {
  for (const std::string read :
       {R"("FILE_PATTERN": "CONTIG")", R"("READ_OPTION": "PARTIAL", "TO_READ_NUM_PARTICLES": 77)",
        R"("READ_OPTION": "STRIDED", "STRIDE_SIZE": 7, "BLOCK_SIZE": 3, "BLOCK_CNT": 110)"}) {
    const Bench bench(one("write", kStrided) + "," + one("read", read), kTwoRanks);
    expect_verified(bench, bench.run());
  }
}

TEST(BenchSequence, AStridedOverwriteLeavesTheRestAsItWas) {
  const Bench bench(one("write") + "," + one("overwrite", kStrided) + "," + one("read"), kTwoRanks);
  expect_verified(bench, bench.run());
}

// A byte in a gap between the blocks, which no element that was written holds.
TEST(BenchSequence, WhatAppearsWhereNobodyWroteIsFound) {
  const Bench bench(one("write", kStrided));
  const auto ran = bench.run({"--compare", "native", "--plant-way", "native", "--plant",
                              "command:python3 -c 'import h5py, sys; h5py.File(sys.argv[1] + \"/test.h5\", "
                              "\"r+\")[\"Timestep_1/y\"][5] = 1' $1"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("at home: dataset y, timestep 1, index 5: found 0x3f800000 where nobody has "
                                 "written"));
}

// h5bench's own sample of appending: the first workload compresses, the second does not say so.
TEST(BenchSequence, AppendingKeepsTheFormOfTheFile) {
  const Bench bench(
      one("write-unlimited", R"("COMPRESS": "YES", "CHUNK_DIM_1": 100, "DELAYED_CLOSE_TIMESTEPS": 2)") + "," +
          one("append", R"("COLLECTIVE_DATA": "YES", "FILE_PATTERN": "CONTIG")"),
      kTwoRanks);
  const auto ran = bench.run({"--plant-way", "forebay", "--plant",
                              format_text("command:python3 -c 'import h5py, sys; d = h5py.File(sys.argv[1] + "
                                          "\"/test.h5\")[\"Timestep_0/x\"]; print(d.compression, d.chunks, "
                                          "d.shape)' $1 >> {}",
                                          bench.disk("form"))});
  expect_verified(bench, ran);
  std::ifstream in(bench.disk("form"));
  std::string written;
  std::string appended;
  std::getline(in, written);
  std::getline(in, appended);
  EXPECT_EQ(written, "gzip (100,) (1800,)");
  EXPECT_EQ(appended, "gzip (100,) (3600,)");
}

TEST(BenchSequence, OverwritingFindsFilesOfProcessesAndStructures) {
  const Bench bench(one("write", R"("FILE_PER_PROC": "YES", "FILE_PATTERN": "INTERLEAVED")") + "," +
                        one("overwrite") + "," + one("read"),
                    kTwoRanks);
  const auto ran = bench.run(
      {"--plant-way", "native", "--plant", "command:ls $1 | sort | tr '\\n' ' ' >> " + bench.disk("names")});
  expect_verified(bench, ran);
  std::ifstream in(bench.disk("names"));
  std::string names;
  std::getline(in, names);
  EXPECT_EQ(names, "test.h5.0 test.h5.1 test.h5.0 test.h5.1 test.h5.0 test.h5.1 ");
}

// After a file of another shape, or one that was appended to, the file is made anew.
TEST(BenchSequence, AFileThatIsNotWhatIsWantedIsMadeAnew) {
  const Bench bench(one("write") + "," + one("append") + "," + one("read") + "," +
                        R"({"benchmark": "read", "name": "half", "file": "test.h5", "configuration":
                           {"TIMESTEPS": "2", "DIM_1": "450"}})",
                    kTwoRanks);
  expect_verified(bench, bench.run());
}

// Sizes that vary overflowed what was made for the mean.
TEST(BenchSequence, ADeviationIsOnlyForTheKernelThatIsAboutIt) {
  const std::string varied = R"("STDEV_DIM_1": 300)";
  const Bench bench(one("write", varied) + "," + one("overwrite", varied) + "," + one("append", varied) +
                        "," + one("read", varied),
                    kTwoRanks);
  expect_verified(bench, bench.run());
  EXPECT_EQ(bench.value("{x['bytes'] for x in l if x['kind'] == 'result'}"), "{115200}");
}

// What another workload file's workloads left was taken for this one's own.
TEST(BenchSequence, WorkloadFilesDoNotShareFiles) {
  const Bench bench(one("write") + "," + one("overwrite"));
  std::ofstream(bench.disk("second.json")) << R"({"benchmarks": [)" << one("read") << "]}";
  expect_verified(bench, bench.run({bench.disk("second.json"), "--compare", "native"}));
}

// One that failed must not have the next one blamed for what it left.
TEST(BenchSequence, AFailureIsNotHandedOn) {
  const Bench bench(one("write") + "," + one("overwrite") + "," + one("read"));
  const auto ran =
      bench.run({"--plant-way", "native", "--plant",
                 "command:test -e $1/../done || { python3 -c 'import h5py, sys; h5py.File("
                 "sys.argv[1] + \"/test.h5\", \"r+\")[\"Timestep_1/y\"][5] = 1' $1; touch $1/../done; }"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(bench.value("[x['status'] for x in l if x['kind'] == 'result' and x['way'] == 'native']"),
            "['wrong_bytes', 'ok', 'ok']")
      << ran.out;
}

}  // namespace
}  // namespace forebay::testing
