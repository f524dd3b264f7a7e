// Every kernel of `forebay bench`, natively and through Forebay, at a size that takes no time: what it reads
// and what it leaves at home is verified, and it is told when something is wrong with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <ostream>

#include "base/format.hpp"
#include "support/bench.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* benchmark;
  const char* configuration;  // without braces
  int ranks = 1;              // 1: the serial flavour
  const char* flavour = "mpich";

  friend std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }
  [[nodiscard]] std::string text() const {
    return format_text(R"({{"benchmark": "{}", "name": "k", "configuration": {{{}}}}})", benchmark,
                       configuration);
  }
  [[nodiscard]] std::string mpi() const {
    if (ranks == 1) return "";
    return format_text(R"("mpi": {{"command": "mpiexec.{}", "ranks": "{}"}},)", flavour, ranks);
  }
};

constexpr const char* kSquare =
    R"("TIMESTEPS": "2", "NUM_DIMS": "2", "DIM_1": "24", "DIM_2": "16", "BLOCK_SIZE": "3",
    "BLOCK_SIZE_2": "2", "STRIDE_SIZE": "5", "STRIDE_SIZE_2": "4", "READ_OPTION": )";

const std::vector<Case>& cases() {
  static const std::string ldc = std::string(kSquare) + "\"LDC\"";
  static const std::string rdc = std::string(kSquare) + "\"RDC\"";
  static const std::string prl = std::string(kSquare) + "\"PRL\"";
  static const std::string cs = std::string(kSquare) + "\"CS\"";
  static const std::vector<Case> all{
      {"WriteContiguousToCompound", "write", R"("TIMESTEPS": 2, "DIM_1": 900, "FILE_PATTERN": "INTERLEAVED")",
       2},
      {"WriteCompoundToContiguous", "write", R"("TIMESTEPS": 2, "DIM_1": 900, "MEM_PATTERN": "INTERLEAVED")",
       2},
      {"WriteCompound", "write",
       R"("TIMESTEPS": 2, "DIM_1": 900, "MEM_PATTERN": "INTERLEAVED", "FILE_PATTERN": "INTERLEAVED")"},
      {"WriteThreeDimensions", "write",
       R"("TIMESTEPS": 2, "NUM_DIMS": 3, "DIM_1": 6, "DIM_2": 7, "DIM_3": 8)", 2},
      {"WriteStrided", "write",
       R"("TIMESTEPS": 2, "DIM_1": 900, "FILE_PATTERN": "STRIDED", "STRIDE_SIZE": 9, "BLOCK_SIZE": 4, "BLOCK_CNT": 100)"},
      {"WriteAsynchronous", "write",
       R"("TIMESTEPS": 4, "DIM_1": 900, "MODE": "ASYNC", "DELAYED_CLOSE_TIMESTEPS": 2)", 2},
      {"WriteCompressed", "write",
       R"("TIMESTEPS": 2, "DIM_1": 900, "COMPRESS": "YES", "CHUNK_DIM_1": 100, "COLLECTIVE_DATA": "YES")", 2},
      {"WriteCompressedBySzip", "write",
       R"("TIMESTEPS": 2, "DIM_1": 900, "COMPRESS": "YES", "COMPRESS_FILTER": "SZIP", "CHUNK_DIM_1": 100)",
       2},
      {"WriteCompressedByNBit", "write",
       R"("TIMESTEPS": 2, "DIM_1": 900, "COMPRESS": "YES", "COMPRESS_FILTER": "N_BIT", "CHUNK_DIM_1": 100)"},
      {"WriteUnlimitedCompressed", "write-unlimited",
       R"("TIMESTEPS": 2, "DIM_1": 900, "COMPRESS": "YES", "COLLECTIVE_DATA": "NO")", 2},
      {"WriteFilePerProcess", "write", R"("TIMESTEPS": 2, "DIM_1": 900, "FILE_PER_PROC": "YES")", 2},
      {"WriteCollective", "write",
       R"("TIMESTEPS": 2, "DIM_1": 900, "COLLECTIVE_DATA": "YES", "COLLECTIVE_METADATA": "YES", "ALIGN": "YES")",
       2},
      {"WriteOnOpenMpi", "write", R"("TIMESTEPS": 2, "DIM_1": 900)", 2, "openmpi"},
      {"WriteUnlimited", "write-unlimited", R"("TIMESTEPS": 2, "DIM_1": 900, "CHUNK_DIM_1": 256)", 2},
      {"WriteNormallyDistributed", "write_var_normal_dist",
       R"("TIMESTEPS": 3, "DIM_1": 900, "STDEV_DIM_1": 300)", 2},
      {"ReadFull", "read", R"("TIMESTEPS": 2, "DIM_1": 900)", 2},
      {"ReadAsynchronous", "read",
       R"("TIMESTEPS": 3, "DIM_1": 900, "MODE": "ASYNC", "DELAYED_CLOSE_TIMESTEPS": 1)"},
      {"ReadPartial", "read",
       R"("TIMESTEPS": 2, "DIM_1": 900, "READ_OPTION": "PARTIAL", "TO_READ_NUM_PARTICLES": 90)", 2},
      {"ReadStrided", "read",
       R"("TIMESTEPS": 2, "DIM_1": 900, "READ_OPTION": "STRIDED", "STRIDE_SIZE": 9, "BLOCK_SIZE": 4, "BLOCK_CNT": 100)"},
      {"ReadOneDiagonal", "read", ldc.c_str(), 2},
      {"ReadOtherDiagonal", "read", rdc.c_str()},
      {"ReadPeriphery", "read", prl.c_str(), 2},
      {"ReadStencil", "read", cs.c_str()},
      {"Overwrite", "overwrite", R"("TIMESTEPS": 2, "DIM_1": 900)", 2},
      {"Append", "append", R"("TIMESTEPS": 2, "DIM_1": 900, "CHUNK_DIM_1": 128)", 2},
      {"Checkpoint", "checkpoint",
       R"("TIMESTEPS": 2, "DIM_1": 900, "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "5 ms")", 2},
      {"MetadataArrays", "metadata", R"("steps": 2, "arrays": 4, "rows": 5, "columns": 6, "dataset-rank": 2,
       "process-rows": 2)",
       2},
      {"MetadataEverything", "metadata",
       R"("steps": 2, "arrays": 4, "rows": 5, "columns": 6, "layout": "chunked",
       "slowest-dimension": "array")"},
      {"Amrex", "amrex", R"("ncells": 16, "max_grid_size": 8, "nlevs": 2, "ncomp": 2, "nppc": 1)", 2},
      {"AmrexAsynchronous", "amrex",
       R"("ncells": 16, "max_grid_size": 8, "ncomp": 2, "nppc": 1, "mode": "ASYNC", "sleeptime": 0.01)", 2},
      {"OpenPmdWrite", "openpmd", R"("operation": "write", "steps": 2, "minBlock": "4 4 4", "grid": "2 2 3",
       "balanced": "false")",
       2},
      {"OpenPmdSlice", "openpmd", R"("operation": "read", "steps": 2, "minBlock": "4 4 4", "grid": "2 2 3",
       "pattern": "sy")",
       2},
      {"ClimateAtmosphere", "e3sm", R"("case": "F", "variables": 12, "r": 2, "points": 300, "levels": 3)", 2},
      {"ClimateLand", "e3sm", R"("i": "map_i_case_16p.h5", "variables": 8, "r": 2, "points": 300)"},
      {"TrainingReader", "dlio",
       R"("train": "true", "shuffle": "true", "seed-change-epoch": "true", "epochs": 2, "read-threads": 0,
       "record-length": 5000, "num-samples-per-file": 12, "num-files-train": 2, "batch-size": 3, "computation-time": 0)",
       2},
      {"TrainingWorkers", "dlio",
       R"("train": "true", "shuffle": "true", "epochs": 2, "read-threads": 3, "evaluation": "true", "eval-time": 0,
       "record-length": 5000, "num-samples-per-file": 13, "num-files-train": 2, "num-files-eval": 1, "batch-size": 2,
       "computation-time": 0, "total-training-steps": 5)",
       2},
      {"TrainingTogether", "dlio",
       R"("train": "true", "shuffle": "true", "epochs": 2, "read-threads": 0, "collective-data": "true",
       "collective-meta": "true", "record-length": 5000, "num-samples-per-file": 5, "num-files-train": 3,
       "batch-size": 2, "computation-time": 0.001, "computation-time-stdev": 0.001)",
       2},
      {"TrainingData", "dlio",
       R"("generate-data": "true", "record-length": 5000, "num-samples-per-file": 12, "num-files-train": 1,
       "num-files-eval": 1)",
       2},
      {"TrainingDataCompressed", "dlio",
       R"("generate-data": "true", "compression": "true", "chunking": "true", "record-length": 5000,
       "num-samples-per-file": 5, "num-files-train": 1, "num-files-eval": 0)",
       2},
      {"ExerciserPlain", "exerciser", R"("numdims": 2, "minels": "4 6", "nsizes": 2, "dimranks": "8 4",
       "iterations": 2)",
       2},
      {"ExerciserEverything", "exerciser",
       R"("numdims": 3, "minels": "2 3 4", "nsizes": 2, "bufmult": "2 1 2", "dimranks": "1 2 1", "iterations": 2,
       "rshift": 1, "derivedtype": "true", "addattr": "true", "indepio": "true", "usechunked": "true",
       "metacoll": "true")",
       2},
      {"DumpsByTurns", "macsio",
       R"("parallel_file_mode": "MIF 1", "part_size": 800, "num_dumps": 2, "vars_per_part": 3)", 2},
      {"DumpsEachToItself", "macsio",
       R"("parallel_file_mode": "MIF 8", "part_size": 800, "num_dumps": 2, "vars_per_part": 3)", 2},
      {"DumpsTogether", "macsio",
       R"("parallel_file_mode": "SIF 1", "part_size": 800, "num_dumps": 2, "vars_per_part": 3)", 2},
      {"MpiIoStrided", "mpiio", R"("operations": 50, "size": 70)", 2},
      {"MpiIoRead", "mpiio", R"("operations": 50, "size": 70, "operation": "read", "pattern": "sequential")",
       2},
      {"MpiIoRandom", "mpiio", R"("operations": 50, "size": 70, "pattern": "random")", 2},
      {"PosixLastPieceShorter", "posix", R"("size": "10000", "transfer": "4096", "reads": 2)"},
      {"PosixReadMany", "posix", R"("size": "64 K", "transfer": 5000, "reads": 4, "order": "random")"},
  };
  return all;
}

class BenchKernel : public ::testing::TestWithParam<Case> {};

TEST_P(BenchKernel, IsVerifiedInBothWays) {
  const Bench bench(GetParam().text(), GetParam().mpi());
  const auto ran = bench.run();
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(bench.value("{x['status'] for x in l if x['kind'] == 'result'}"), "{'ok'}");
  EXPECT_EQ(
      bench.value("all(x['bytes'] > 0 and x['verified_bytes'] > 0 for x in l if x['kind'] == 'result')"),
      "True");
  EXPECT_EQ(bench.value("r('k', 'native')[0]['bytes'] == r('k', 'forebay')[0]['bytes']"), "True");
  // Written data is checked at home, read data when it was read and what it was read from once more.
  EXPECT_EQ(bench.value("r('k', 'native')[0]['verified_bytes'] == r('k', 'forebay')[0]['verified_bytes']"),
            "True");
}
INSTANTIATE_TEST_SUITE_P(All, BenchKernel, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param.name); });

// One of each kind that has a check of its own.
class BenchKernelTruth : public ::testing::TestWithParam<Case> {};

TEST_P(BenchKernelTruth, AWrongByteIsFound) {
  const Bench bench(GetParam().text(), GetParam().mpi());
  const auto ran = bench.run({"--compare", "native", "--plant", "wrong_byte", "--plant-way", "native"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("wrong_bytes"));
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("dataset .+, timestep [0-9]+, index [0-9]+: found 0x"));
}
std::vector<Case> cases_of_each_kind() {
  std::vector<Case> some;
  for (const auto& one : cases()) {
    const std::string name = one.name;
    for (const auto* wanted :
         {"WriteCompound", "ReadStencil", "Overwrite", "Append", "MetadataEverything", "Amrex",
          "OpenPmdWrite", "OpenPmdSlice", "ClimateLand", "TrainingReader", "TrainingWorkers",
          "ExerciserPlain", "DumpsTogether", "PosixReadMany", "MpiIoStrided", "MpiIoRead"}) {
      if (name == wanted) some.push_back(one);
    }
  }
  return some;
}
INSTANTIATE_TEST_SUITE_P(All, BenchKernelTruth, ::testing::ValuesIn(cases_of_each_kind()),
                         [](const auto& one) { return std::string(one.param.name); });

// What no element shows: it is done to the files between the kernel and the check.
struct Fault {
  const char* name;
  const char* benchmark;
  const char* configuration;
  const char* command;  // $1: where the files are
  const char* words;
  int ranks = 1;

  friend std::ostream& operator<<(std::ostream& out, const Fault& one) { return out << one.name; }
};

class BenchKernelFault : public ::testing::TestWithParam<Fault> {};

TEST_P(BenchKernelFault, IsFoundAtHome) {
  const auto& fault = GetParam();
  const Case one{fault.name, fault.benchmark, fault.configuration, fault.ranks};
  const Bench bench(one.text(), one.mpi());
  const auto fine = bench.run({"--compare", "native"});
  EXPECT_EQ(fine.code, 0) << fine.out << fine.err;
  const auto ran = bench.run(
      {"--compare", "native", "--plant-way", "native", "--plant", std::string("command:") + fault.command});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(std::string("k, native: wrong_bytes: at home: ") + fault.words));
}
INSTANTIATE_TEST_SUITE_P(
    All, BenchKernelFault,
    ::testing::Values(
        Fault{"LongerPosixFile", "posix", R"("size": "10000")", "printf x >> $1/posix.h5.0",
              "file 0 has 10001 bytes, not 10000"},
        Fault{"LongerMpiIoFile", "mpiio", R"("operations": 50, "size": 70)", "printf x >> $1/mpiio.h5",
              "the file has 7001 bytes, not 7000", 2},
        Fault{
            "AttributeOfTheExerciser", "exerciser", R"("numdims": 1, "minels": "4", "addattr": "true")",
            "python3 -c 'import h5py, sys; del h5py.File(sys.argv[1] + \"/exerciser.h5.0\", \"r+\")[\"top\"]"
            ".attrs[\"about\"]' $1",
            "attribute about of the top group is not what was written"},
        Fault{"AttributeOfAStep", "openpmd", R"("operation": "write", "minBlock": "4 4 4", "grid": "1 1 2")",
              "python3 -c 'import h5py, sys; del h5py.File(sys.argv[1] + \"/openpmd.h5.0000000\", \"r+\")"
              "[\"data/0\"].attrs[\"dt\"]' $1",
              "attribute dt of step 0 is not what was written"},
        Fault{"TextOfAFile", "openpmd", R"("operation": "write", "minBlock": "4 4 4", "grid": "1 1 2")",
              "python3 -c 'import h5py, sys, numpy; h5py.File(sys.argv[1] + \"/openpmd.h5.0000000\", \"r+\")"
              ".attrs[\"meshesPath\"] = numpy.bytes_(\"fjelds/\")' $1",
              "attribute meshesPath of step 0 is not what was written"},
        Fault{"AttributeOfADataset", "openpmd",
              R"("operation": "write", "minBlock": "4 4 4", "grid": "1 1 2")",
              "python3 -c 'import h5py, sys; h5py.File(sys.argv[1] + \"/openpmd.h5.0000000\", \"r+\")"
              "[\"data/0/particles/ion/momentum/y\"].attrs[\"unitSI\"] = 2.0' $1",
              "attribute unitSI of data/0/particles/ion/momentum/y is not what was written"},
        Fault{"DatasetThatHasGrown", "e3sm", R"("case": "F", "variables": 4, "points": 300)",
              "python3 -c 'import h5py, sys, numpy; f = h5py.File(sys.argv[1] + \"/e3sm.h5\", \"r+\"); n = "
              "\"variable_001\"; d = f[n][...]; del f[n]; f[n] = numpy.concatenate([d, d], axis=2)' $1",
              "dataset variable_001 has another shape"},
        Fault{"PointThatNobodyHas", "e3sm", R"("case": "I", "variables": 4, "points": 300)",
              "python3 -c 'import h5py, sys; d = h5py.File(sys.argv[1] + \"/e3sm.h5\", \"r+\")"
              "[\"variable_001\"]; d[0, 0, list(d[0, 0]).index(0)] = 1' $1",
              "dataset variable_001, timestep 0, index "}),
    [](const auto& one) { return std::string(one.param.name); });

// Other workers read for it: the wait is not the file system's.
TEST(BenchKernel, ARawTimeThatIsNoneIsRemarkedUpon) {
  const Bench bench(
      R"({"benchmark": "dlio", "name": "k", "configuration": {"train": "true", "epochs": 1, "record-length": 5000,
      "num-samples-per-file": 8, "num-files-train": 1, "computation-time": 0, "read-threads": 2}})");
  EXPECT_EQ(bench.run().code, 0);
  EXPECT_EQ(bench.value("{x['remark'] for x in l if x['kind'] == 'result'}"),
            "{'raw is how long the reader waited for samples that its workers had read'}");
}

// What was not a multiple of the pieces was left out in silence.
TEST(BenchKernel, AFileIsAsLongAsItIsAskedToBe) {
  const Bench bench(
      R"({"benchmark": "posix", "name": "k", "configuration": {"size": "10000", "transfer": "4096"}})");
  EXPECT_EQ(bench.run({"--compare", "native"}).code, 0);
  EXPECT_EQ(bench.value("r('k', 'native')[0]['bytes'], r('k', 'native')[0]['operations']"), "(20000, 6)");
}

// Each rank's own part was taken for the time in which all were written: a rate of so many times the true
// one. Every transfer sleeps 20 ms, so that 24 of them one after the other cannot take less.
TEST(BenchKernel, RanksThatTakeTurnsTakeTheSumOfTheirTimes) {
  const Bench bench(R"({"benchmark": "macsio", "name": "k", "configuration": {"parallel_file_mode": "MIF 1",
      "part_size": 800, "num_dumps": 2, "vars_per_part": 3}})",
                    R"("mpi": {"command": "mpiexec.mpich", "ranks": "2"},)");
  const auto ran = bench.run({"--compare", "native", "--plant", "slow", "--plant-way", "native"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(bench.value("r('k', 'native')[0]['operations']"), "24");
  EXPECT_EQ(bench.value("r('k', 'native')[0]['times']['raw'] >= 0.48"), "True");
  EXPECT_EQ(
      bench.value("(lambda t: t['raw'] == t['write'] and t['raw'] + t['open'] + t['create'] + t['close'] "
                  "+ t['metadata'] <= t['total'])(r('k', 'native')[0]['times'])"),
      "True");
}

// Its ranks read alone by default, whatever the configuration asked for.
TEST(BenchKernel, ReadingTogetherIsWithoutWorkersUnlessTheyAreAskedFor) {
  const auto table = [](const std::string& more) {
    const Bench paths("");
    const auto file = paths.disk("output");
    const Bench bench(
        format_text(R"({{"benchmark": "dlio", "name": "k", "configuration": {{"train": "true", "epochs": 1,
        "record-length": 5000, "num-samples-per-file": 8, "num-files-train": 1, "computation-time": 0,
        "batch-size": 2, "output-csv-name": "{}", "collective-data": "true", "collective-meta": "true"{}}}}})",
                    file, more),
        R"("mpi": {"command": "mpiexec.mpich", "ranks": "2"},)");
    const auto ran = bench.run({"--compare", "native"});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    const auto workers = bench.value("'remark' in r('k', 'native')[0]");
    std::ifstream in(file + ".csv");
    return workers + ": " + std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_THAT(table(""), HasSubstr("False: "));
  EXPECT_THAT(table(""), HasSubstr("collective data, YES, \ncollective meta, YES, \n"));
  EXPECT_THAT(table(R"(, "read-threads": 4)"), HasSubstr("True: "));
  EXPECT_THAT(table(R"(, "read-threads": 4)"), HasSubstr("collective data, NO, \ncollective meta, NO, \n"));
}

}  // namespace
}  // namespace forebay::testing
