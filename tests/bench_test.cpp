// `forebay bench` tells the truth: what is right is verified, what is wrong is found, what is slow is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/format.hpp"
#include "support/bench.hpp"
#include "support/door_run.hpp"
#include "support/places.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTinyWrite =
    R"({"benchmark": "write", "configuration": {"TIMESTEPS": "3", "DIM_1": "4 K"}})";
const char* const kAnyWrite = R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1", "DIM_1": "8"}})";
const std::string kTwoRanks = R"("mpi": {"command": "mpiexec.mpich", "ranks": "2"},)";

TEST(Bench, RunsAWriteBothWaysAndVerifiesIt) {
  const Bench bench(kTinyWrite, kTwoRanks);
  const auto ran = bench.run({"--repeat", "2"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("every element as it was written"));
  EXPECT_EQ(bench.value("[x['kind'] for x in l if x['kind'] != 'timeline']"),
            "['run', 'workload', 'result', 'result', 'result', 'result', 'end']");
  EXPECT_EQ(bench.value("l[-1]['status']"), "complete");
  const auto bytes = std::to_string(3 * 4096 * 8 * 4 * 2);
  for (const auto* way : {"native", "forebay"}) {
    EXPECT_EQ(bench.value(format_text(
                  "[(x['bytes'], x['verified_bytes'], x['status']) for x in r('write', '{}')]", way)),
              format_text("[({0}, {0}, 'ok'), ({0}, {0}, 'ok')]", bytes));
  }
  EXPECT_EQ(bench.value("r('write', 'forebay')[0]['buffer']['staged_bytes'] >= " + bytes), "True") << ran.out;
  EXPECT_EQ(bench.value("all(x['times']['observed'] > 0 for x in r('write', 'native'))"), "True");
  EXPECT_EQ(bench.value("all(0 < x['own_memory'] < x['peak_memory'] for x in r('write', 'forebay'))"),
            "True");
  // Nothing is done after the last close (which is told in microseconds).
  EXPECT_EQ(
      bench.value("all(x['closed'] + 1e-5 > max(s['end'] for s in x['spans']) for x in l if x['kind'] == "
                  "'timeline')"),
      "True");
  EXPECT_EQ(bench.value(
                "[(x['tiers'], all(f['tiers'] == [f['used']] for f in x['fill'] if f['used'])) for x in l if "
                "x['kind'] == 'timeline']"),
            "[([], True), (['memory'], True)]");
}

// The form of h5bench's own samples: Open MPI's options, two benchmarks in one entry and in its order, a
// connector that is not installed, one table for all.
TEST(Bench, AFileOfH5benchRunsAsItIs) {
  const std::string configuration =
      R"("MEM_PATTERN": "CONTIG", "FILE_PATTERN": "CONTIG", "NUM_PARTICLES": "1 Ks", "TIMESTEPS": "2",
      "DELAYED_CLOSE_TIMESTEPS": "2", "COLLECTIVE_DATA": "NO", "COLLECTIVE_METADATA": "NO", "NUM_DIMS": "1",
      "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "0 sec", "DIM_1": "1024", "DIM_2": "1", "DIM_3": "1", "BLOCK_SIZE_3": "1",
      "ASYNC_MODE": "EXP", "CSV_FILE": ")";
  const Bench paths("");
  const auto table = paths.disk("output.csv");
  const auto one = format_text(R"({{"file": "test.h5", "configuration": {{{}{}"}}}})", configuration, table);
  const Bench bench(format_text(R"({{"write": {0}, "read": {0}}})", one),
                    R"("mpi": {"command": "mpiexec.openmpi", "ranks": "4",
                 "configuration": "--allow-run-as-root -n 2 --oversubscribe"},
         "vol": {"library": "/no/lib:", "path": ["/no/such/folder"], "connector": "async under_vol=0;under_info={}"},
         "file-system": {"lustre": {"stripe-size": "1M", "stripe-count": 4}}, "directory": "storage",)");
  const auto ran = bench.run();
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("workload_write, async: failed: path: /no/such/folder, where its connector is to "
                        "be, is not there"));
  EXPECT_EQ(bench.value("[(x['kernel'], x['ranks']) for x in l if x['kind'] == 'workload']"),
            "[('write', 2), ('read', 2)]");
  EXPECT_EQ(bench.value("[x['status'] for x in l if x['kind'] == 'result' and x['way'] != 'async']"),
            "['ok', 'ok', 'ok', 'ok']");
  const auto rows = slurp(table);
  EXPECT_LT(rows.find("operation, write"), rows.find("operation, read"));
  EXPECT_NE(rows.find("operation, read"), std::string::npos) << rows;
  EXPECT_THAT(rows, HasSubstr("ranks, 2, \ncollective data, NO, \ncollective meta, NO, \nsubfiling, NO, \n"
                              "total compute time, "));
}

// HDF5's own pass-through connector is one that every machine has.
TEST(Bench, AnyOtherConnectorIsAWay) {
  const Bench bench(kTinyWrite, kTwoRanks + R"("compare": ["native",
      {"name": "through", "connector": "pass_through under_vol=0;under_info={}"}],)");
  const auto ran = bench.run();
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(bench.value("[(x['way'], x['status'], x['settings']) for x in l if x['kind'] == 'result']"),
            "[('native', 'ok', {}), ('through', 'ok', {'HDF5_VOL_CONNECTOR': "
            "'pass_through under_vol=0;under_info={}', 'MPI threads': 'MPI_THREAD_MULTIPLE'})]");
}

// The engine's own ring for this tier was taken for the program's by the POSIX door, which then buffered
// nothing.
TEST(Bench, ATierThatNeedsARingIsNoReasonToBufferNothing) {
  const Bench bench(kTinyWrite, kTwoRanks);
  std::filesystem::create_directory(bench.disk("nvme"));
  const auto ran =
      bench.run({"--compare", "forebay", "--set",
                 format_text("tiers=memory:{}:64MiB,nvme:{}:64MiB", bench.memory(), bench.disk("nvme"))});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(bench.value("r('write', 'forebay')[0]['buffer']['staged_bytes'] > 0"), "True") << ran.out;
}

TEST(Bench, CountsWhatHomeIsAskedFor) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: no /dev/fuse";
  const Bench bench(kTinyWrite, kTwoRanks);
  const auto ran = bench.run({"--home", "slowfs"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(bench.value("l[0]['home']['file_system'], l[0]['home']['latency_ns']"), "('slowfs', 1000000)");
  EXPECT_EQ(bench.value("all(x['home']['written_bytes'] >= x['bytes'] for x in l if x['kind'] == 'result')"),
            "True");
  // Making the file, opening and closing it are requests too.
  EXPECT_EQ(bench.value("all(x['home']['opens'] > 0 and x['home']['closes'] > 0 and x['home']['lookups'] > 0 "
                        "for x in l if x['kind'] == 'result')"),
            "True");
  EXPECT_THAT(ran.out, HasSubstr("home others"));
}

// What is planted, and whether anybody but the check at home could see it.
class BenchTruth : public ::testing::TestWithParam<const char*> {};

TEST_P(BenchTruth, WhatIsPlantedIsFound) {
  const Bench bench(kTinyWrite);
  const auto ran =
      bench.run({"--plant", GetParam(), "--plant-way", "forebay", "--html", bench.disk("page.html")});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("write, forebay: wrong_bytes: at home: dataset "));
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("dataset [a-z_0-9]+, timestep [0-9]+, index [0-9]+"));
  EXPECT_THAT(ran.out, Not(HasSubstr("every element")));
  EXPECT_EQ(bench.value("r('write', 'native')[0]['status'], r('write', 'forebay')[0]['status']"),
            "('ok', 'wrong_bytes')");
  EXPECT_THAT(slurp(bench.disk("page.html")), HasSubstr("the figures of this way are worth nothing"));
}
INSTANTIATE_TEST_SUITE_P(All, BenchTruth, ::testing::Values("wrong_byte", "dropped", "swapped"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Bench, ASlowWayIsCalledSlower) {
  const Bench bench(kTinyWrite);
  const auto ran = bench.run({"--plant", "slow", "--plant-way", "forebay"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("write, forebay: SLOWER than native"));
}

TEST(Bench, NothingIsVerifiedUnlessItWas) {
  const Bench bench(kTinyWrite);
  const auto ran = bench.run({"--no-verify", "--plant", "wrong_byte", "--plant-way", "forebay"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Nothing was verified"));
}

// What the kernels themselves cost: everything but the transfers is done, and takes its time.
TEST(Bench, ShowsTheKernelsOwnCost) {
  const Bench bench(kTinyWrite, kTwoRanks);
  const auto ran = bench.run({"--null"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("write, null: the kernel's own part of what the program waited in native is "));
  EXPECT_EQ(bench.value("r('write', 'null')[0]['operations'] == r('write', 'native')[0]['operations']"),
            "True");
}

TEST(Bench, AnInterruptLeavesPartialResultsAndSaysSo) {
  const Bench bench(
      R"({"benchmark": "write", "configuration": {"TIMESTEPS": "2", "DIM_1": "64"}}, {"benchmark":
    "checkpoint", "configuration": {"TIMESTEPS": "9", "DIM_1": "64", "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "30 s"}})");
  const auto ran = bench.run({"--compare", "native"}, {"timeout", "--preserve-status", "--signal=INT", "4"});
  EXPECT_EQ(ran.code, 130) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("the results are partial"));
  EXPECT_EQ(bench.value("[x['status'] for x in l if x['kind'] == 'result']"), "['ok', 'interrupted']");
  EXPECT_EQ(bench.value("l[-1]['kind'], l[-1]['status']"), "('end', 'interrupted')");
  for (const auto& entry : std::filesystem::directory_iterator(bench.disk(".")))
    EXPECT_FALSE(entry.path().filename().string().starts_with("forebay-bench-")) << entry;
}

// What an earlier run had left in the file stood there as if it were this one's.
TEST(Bench, AnInterruptLeavesItsRowsAndNoneOfBefore) {
  const Bench paths("");
  const auto table = paths.disk("rows.csv");
  std::ofstream(table) << "of an earlier run\n";
  const Bench bench(format_text(
      R"({{"benchmark": "checkpoint", "configuration": {{"TIMESTEPS": "3", "DIM_1": "64",
      "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "30 s", "CSV_FILE": "{}"}}}})",
      table));
  const auto ran = bench.run({"--compare", "native"}, {"timeout", "--preserve-status", "--signal=INT", "2"});
  EXPECT_EQ(ran.code, 130) << ran.out << ran.err;
  const auto rows = slurp(table);
  EXPECT_THAT(rows, Not(HasSubstr("earlier")));
  EXPECT_THAT(rows, HasSubstr("way, native, \n"));
  EXPECT_THAT(rows, HasSubstr("status, interrupted: the run was stopped, \nrounds, 0, of 1\n"));
}

TEST(BenchConfiguration, ATableThatCannotBeWrittenEndsTheRunBeforeItBegins) {
  const Bench bench(R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1", "DIM_1": "8", "CSV_FILE":
      "/nowhere/rows.csv"}})");
  const auto ran = bench.run();
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(
      ran.err,
      "forebay: workload_write: CSV_FILE: cannot write to /nowhere/rows.csv: No such file or directory\n");
  EXPECT_FALSE(std::filesystem::exists(bench.results()));
}

// One that is not there is named, so all that are there have been read.
TEST(Bench, ReadyWorkloadsAreAccepted) {
  for (const auto& entry : std::filesystem::directory_iterator(built("workloads"))) {
    const auto ran = run(Node::program(), {"bench", entry.path().stem(), "--only", "no such workload"});
    EXPECT_EQ(ran.err, "forebay: no workload is left to be run\n") << entry;
  }
  EXPECT_EQ(run(Node::program(), {"bench"}).code, 2);
}

struct Bad {
  const char* name;
  const char* benchmarks;
  const char* more;
  const char* words;

  friend std::ostream& operator<<(std::ostream& out, const Bad& bad) { return out << bad.name; }
};
class BenchConfiguration : public ::testing::TestWithParam<Bad> {};

TEST_P(BenchConfiguration, IsRefusedInOneSentence) {
  const Bench bench(GetParam().benchmarks, GetParam().more);
  const auto ran = bench.run();
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, format_text("forebay: {}: {}\n", bench.file(), GetParam().words));
  EXPECT_FALSE(std::filesystem::exists(bench.results()));
}
INSTANTIATE_TEST_SUITE_P(
    All, BenchConfiguration,
    ::testing::Values(
        Bad{"UnknownKey",
            R"({"benchmark": "write", "configuration": {"TIMESTEPS": "3", "DIM_1": "8", "DIM_7": "1"}})", "",
            "benchmark 1 (write): DIM_7: write has no such key"},
        Bad{"NoCount", R"({"benchmark": "write", "configuration": {"TIMESTEPS": "many", "DIM_1": "8"}})", "",
            "benchmark 1 (write): TIMESTEPS: \"many\" is not a count, as 5 or 16 M"},
        Bad{"Missing", R"({"benchmark": "write", "configuration": {"DIM_1": "8"}})", "",
            "benchmark 1 (write): TIMESTEPS: it must be given"},
        Bad{"TooManyDimensions",
            R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1", "DIM_1": "8", "NUM_DIMS": "4"}})",
            "", "benchmark 1 (write): NUM_DIMS: 1, 2 or 3 are possible"},
        Bad{"NoSuchWay",
            R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1", "DIM_1": "8"}, "compare": ["fast"]})",
            "",
            "benchmark 1 (write): compare: \"fast\" is none of native, forebay and null; others are objects"},
        Bad{"UnknownMember", R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1", "DIM_1": "8"}})",
            R"("hoem": "x",)", "hoem: there is no such key here"},
        Bad{"NoRanks", R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1", "DIM_1": "8"}})",
            R"("mpi": {"command": "mpiexec.mpich", "ranks": "none"},)",
            "ranks: \"none\" is no number of ranks"},
        Bad{"LossyFilter",
            R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1", "DIM_1": "8", "COMPRESS": "YES",
            "COMPRESS_FILTER": "ZFP"}})",
            "",
            "benchmark 1 (write): COMPRESS_FILTER: ZFP: a filter that loses bits leaves nothing that could "
            "be "
            "checked"},
        Bad{"NoGpu", R"({"benchmark": "cuda_read", "configuration": {}})", "",
            "benchmark 1 (cuda_read): benchmark: cuda_read is not done: there is no GPU's memory here (read "
            "with "
            "FILE_PER_PROC does the rest)"},
        Bad{"SecondOfAnOldEntry",
            R"({"write": {"configuration": {"TIMESTEPS": "1", "DIM_1": "8"}}, "read": {"configuration": {}}})",
            "", "benchmark 2 (read): TIMESTEPS: it must be given"},
        Bad{"WrongGrid",
            R"({"benchmark": "metadata", "configuration": {"process-rows": "2", "process-columns": "2"}})",
            "", "benchmark 1 (metadata): process-rows: 2 x 2 processes are not the 1 ranks that are started"},
        Bad{"UnknownFileSystem",
            R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1", "DIM_1": "8"}})",
            R"("file-system": {"lustre": {"stripes": "4"}},)", "stripes: there is no such key here"},
        Bad{"BadSettingOfAWay", kAnyWrite,
            R"("compare": ["native", {"name": "small", "settings": {"buffer.bucket_size": "3MiB"}}],)",
            "compare: small: settings: buffer.bucket_size: \"3MiB\" is not a power of two from 4KiB to "
            "16MiB"},
        Bad{"UnknownSettingOfAWay", kAnyWrite,
            R"("compare": ["native", {"name": "odd", "settings": {"drain.trigge": "close"}}],)",
            "compare: odd: settings: drain.trigge: unknown setting; did you mean drain.trigger?"},
        Bad{"UnknownDoorOfAWay", kAnyWrite, R"("compare": ["native", {"name": "odd", "doors": "window"}],)",
            "compare: odd: doors: \"window\" is not hdf5, mpiio or posix"},
        Bad{"ConnectorWithSettings", kAnyWrite,
            R"("compare": ["native", {"name": "both", "connector": "async", "settings": {"mode": "sync"}}],)",
            "compare: both: settings and doors are Forebay's, and there is a connector in its place"},
        Bad{"ObjectNamedNative", kAnyWrite,
            R"("compare": [{"name": "native", "settings": {"mode": "sync"}}],)",
            "compare: native: this name is taken: an object needs another one"},
        Bad{"ObjectNamedNull", kAnyWrite, R"("compare": ["native", {"name": "null", "doors": "posix"}],)",
            "compare: null: this name is taken: an object needs another one"},
        Bad{"MpiIoWithoutMpi", R"({"benchmark": "mpiio"})", "",
            "benchmark 1 (mpiio): mpi: mpiio needs one, as {\"command\": \"mpiexec.mpich\", \"ranks\": "
            "\"2\"}"},
        Bad{"MpiIoBeyondAnInt", R"({"benchmark": "mpiio", "configuration": {"size": "2 G"}})",
            kTwoRanks.c_str(), "benchmark 1 (mpiio): size: MPI takes less than 2 G at once"},
        Bad{"NoBenchmarks", "", "", "benchmarks: a list of at least one is wanted"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(BenchConfiguration, SettingsOfTheCommandLineAreReadBeforeAnythingIsRun) {
  const Bench bench(kTinyWrite,
                    R"("compare": ["native", {"name": "deep", "settings": {"drain.rate": "1MB"}}],)");
  const auto unknown = bench.run({"--set", "drain.trigge=close"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err, "forebay: --set: drain.trigge: unknown setting; did you mean drain.trigger?\n");
  EXPECT_FALSE(std::filesystem::exists(bench.results()));
}

// For another machine: what is not here is said, with the option that does without it.
TEST(BenchConfiguration, AnotherMachinesLauncherIsReplaced) {
  const Bench bench(kTinyWrite,
                    R"("mpi": {"command": "srun-of-elsewhere", "configuration": "-N 8 -n 100000"},)");
  const auto refused = bench.run();
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("command: "));
  EXPECT_THAT(refused.err, HasSubstr("srun-of-elsewhere"));
  EXPECT_THAT(refused.err, HasSubstr("(--launcher COMMAND takes another)"));
  const auto many = bench.run({"--launcher", "mpiexec.mpich"});
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.err, HasSubstr("ranks: 100000 are too many for the "));
  const auto ran = bench.run({"--launcher", "mpiexec.mpich", "--ranks", "2", "--compare", "native"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(bench.value("l[1]['ranks']"), "2");
}

TEST(BenchConfiguration, WhatDoesNotFitIsSaidBeforeItBegins) {
  const Bench bench(R"({"benchmark": "write", "configuration": {"TIMESTEPS": "1000000", "DIM_1": "1 G"}})");
  const auto ran = bench.run();
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("workload_write: it"));
  EXPECT_FALSE(std::filesystem::exists(bench.results()));
}

TEST(BenchConfiguration, PlacesThatAreNotThereAreNamed) {
  const auto unknown = run(Node::program(), {"bench", "nosuch"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err,
            "forebay: nosuch is neither a file nor a workload that comes with Forebay (`forebay bench` lists "
            "those)\n");
  const Bench bench(kTinyWrite);
  const auto file = run(Node::program(), {"bench", bench.disk("nosuch.json")});
  EXPECT_THAT(file.err, HasSubstr("nosuch.json: No such file or directory"));
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: no /dev/fuse";
  const auto disk = run(Node::program(), {"bench", bench.file(), "--disk", bench.disk("nowhere")});
  EXPECT_EQ(disk.code, 1);
  EXPECT_THAT(disk.err, HasSubstr("nowhere: No such file or directory"));
}

TEST(BenchConfiguration, WhatIsNoJsonIsNamed) {
  const Bench bench("");
  std::ofstream(bench.file()) << "{\"benchmarks\": [";
  const auto ran = bench.run();
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(bench.file() + ": "));
  EXPECT_THAT(ran.err, HasSubstr("parse error at line 1"));
}

}  // namespace
}  // namespace forebay::testing
