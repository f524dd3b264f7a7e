// Ranks that share a file through the HDF5 door on the MPI-IO driver: that they never wait for each other in
// vain, and that HDF5 tells them what it would without it. tests/hdf5/ranks is the program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

#include "base/format.hpp"
#include "support/door_run.hpp"
#include "support/places.hpp"
#include "support/scale.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

struct Shape {
  const char* flavour;
  Door door;
};

class Hdf5Ranks : public ::testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    if (const auto why = door_.missing(); !why.empty()) GTEST_SKIP() << why;
  }
  [[nodiscard]] Words command(int ranks, const std::string& verb, const std::string& more = {}) const {
    Words words{hdf5_program("h5_ranks", GetParam().flavour), verb, place_.file("f.h5")};
    if (!more.empty()) words.push_back(more);
    return door_.on_ranks(ranks, words);
  }
  // Nothing goes home before it must.
  static Words late(const Words& command) {
    Words words{"env", "FOREBAY_DRAIN_TRIGGER=close"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  // With the door, or natively; what it printed.
  std::string run(Door door, const Words& words) {
    const auto ran = door_.run(door, place_.path(), words, 100);
    EXPECT_EQ(ran.code, 0) << (ran.code >= 124 ? "it hangs\n" : "\n") << ran.err.substr(0, 4000);
    return ran.out;
  }
  [[nodiscard]] std::uint64_t counted(const std::string& figure) const {
    const auto status = door_.forebay({"status", "--json", "--all"}).out;
    return std::stoull(json_value(status, "sum(b['totals']['" + figure + "'] for b in d['buffers'])"));
  }

  const TemporaryDirectory place_;
  // For the door's other name: both caches on. However fast home is, what is written is staged.
  const DoorRun door_{GetParam().flavour,
                      {"HDF5_CACHE_WR=yes", "HDF5_CACHE_RD=yes", "FOREBAY_ADMISSION_WRITE=always"}};
};

// Four ranks on however few cores there are, with nothing but MPI_THREAD_SINGLE.
TEST_P(Hdf5Ranks, WithDifferentAmountsOfWorkDoNotHang) {
  for (unsigned round = 1; round <= scaled(2u, 50u); ++round) {
    run(GetParam().door, command(4, "uneven", std::to_string(round)));
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  EXPECT_GT(counted("staged_bytes"), 0u) << "nothing was buffered";
}

TEST_P(Hdf5Ranks, AreToldWhatNativeTransfersTell) {
  for (const auto* verb : {"modes", "mixed"}) {
    const auto natively = run(Door::kNone, command(2, verb));
    const auto with_door = run(GetParam().door, command(2, verb));
    EXPECT_NE(natively, "");
    EXPECT_EQ(different_lines(natively, with_door), "");
  }
  EXPECT_GT(counted("staged_bytes"), 0u) << "nothing was buffered";
}

// Where looking for its chunks costs more than it gains, HDF5 goes on by itself.
TEST_P(Hdf5Ranks, GrowADatasetChunkByChunk) {
  const auto times = scaled(200u, 20'000u);
  run(GetParam().door, command(2, "grow", std::to_string(times)));
  constexpr std::uint64_t kChunk = 256 * 4;
  EXPECT_GE(counted("staged_bytes"), std::min(times, 16'000u) * kChunk);
  EXPECT_LE(counted("staged_bytes"), std::min(times, 17'000u) * kChunk);
}

// MPI-IO writes what lies between the pieces of a collective write, too, as it found it: nothing may go home
// there meanwhile. Home is slow enough for the two to meet.
TEST_P(Hdf5Ranks, KeepWhatLiesBetweenChunksThatAreFilled) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  const SlowfsMount home({"--latency=5ms"});
  const Words words{hdf5_program("h5_ranks", GetParam().flavour), "gaps", home.path() / "f.h5",
                    std::to_string(scaled(16, 400))};
  auto eager = door_.on_ranks(3, words);
  eager.insert(eager.begin(), {"env", "FOREBAY_DRAIN_DELAY=0ms"});
  const auto ran = door_.run(GetParam().door, home.path(), eager, 100);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err.substr(0, 4000);
  EXPECT_GT(counted("staged_bytes"), 0u) << "nothing was buffered";
}

// What is done by a link or a mount to a file that is open as well is done to what that one has staged.
TEST_P(Hdf5Ranks, ReachAnotherFileByALinkOrMount) {
  run(GetParam().door, late(command(2, "links")));
  EXPECT_GT(counted("staged_bytes"), 0u) << "nothing was buffered";
}

TEST_P(Hdf5Ranks, FlushWhatIsMounted) {
  run(Door::kNone, command(2, "flushes"));
  run(GetParam().door, late(command(2, "flushes")));
  EXPECT_GT(counted("staged_bytes"), 0u) << "nothing was buffered";
}

// One rank fails in what is served, the others wait for it in what HDF5 does.
TEST_P(Hdf5Ranks, WriteTheRestWhenOneOfThemFails) {
  run(GetParam().door, command(2, "multi"));
  EXPECT_GT(counted("staged_bytes"), 0u) << "nothing was buffered";
}

TEST_P(Hdf5Ranks, BringDifferentDatasetsToOneCall) {
  run(Door::kNone, command(3, "unlike"));
  run(GetParam().door, command(3, "unlike"));
  EXPECT_GT(counted("staged_bytes"), 0u) << "nothing was buffered";
}

// The calls of <forebay/hdf5.h>. What four ranks bring of the same file comes from home once.
TEST_P(Hdf5Ranks, BringTheSameOnce) {
  const auto program = hdf5_program("h5_api_ranks", GetParam().flavour);
  run(GetParam().door, door_.on_ranks(4, {program, place_.file("f.h5")}));
  constexpr std::uint64_t kBytes = 2 * (4u << 20);
  EXPECT_GE(counted("staged_bytes"), kBytes);
  EXPECT_GE(counted("hit_bytes"), 4 * kBytes);
  // With what lies between and beside the datasets in the same buckets.
  EXPECT_LE(counted("home_read_bytes"), kBytes + kBytes / 4);
}

// After a kill the file opens natively and holds what was flushed, or what was closed.
class Hdf5KilledRanks : public ::testing::TestWithParam<std::tuple<const char*, int, Words>> {
 protected:
  void SetUp() override {
    if (const auto why = DoorRun(flavour()).missing(); !why.empty()) GTEST_SKIP() << why;
  }
  static const char* flavour() { return std::get<0>(GetParam()); }
  static int nodes() { return std::get<1>(GetParam()); }
  [[nodiscard]] bool left(const std::string& marker) const {
    return std::filesystem::exists(place_.file("f.h5." + marker + "0")) ||
           std::filesystem::exists(place_.file("f.h5." + marker + "1"));
  }
  // One run, seen natively after recovery; what is wrong with it, or nothing.
  [[nodiscard]] std::string run(unsigned seed) {
    for (const auto& entry : std::filesystem::directory_iterator(place_.path()))
      std::filesystem::remove(entry.path());
    const DoorRun door(flavour(), std::get<2>(GetParam()));
    const auto program = hdf5_program("h5_ranks", flavour());
    const auto ran = door.run(
        Door::kConnector, place_.path(),
        door.on_nodes(nodes(), 2, {program, "killed", place_.file("f.h5"), std::to_string(seed)}), 60);
    if (!left("flushed")) return "it did not flush: " + ran.out + ran.err.substr(0, 2000);
    std::string what = left("closed") ? "closed" : "flushed";
    for (int node = 0; node < nodes(); ++node) {
      const auto carried = door.forebay({"recover", "--timeout", "30s"}, node);
      if (carried.code != 0) return "recover: " + carried.out + carried.err;
    }
    const auto looked = door.run(
        Door::kNone, place_.path(),
        door.on_ranks(1, {program, "survived", place_.file("f.h5"), left("closed") ? "2" : "1"}), 60);
    ++seen_[what];
    return looked.code == 0 ? "" : what + ": " + looked.out + looked.err.substr(0, 2000);
  }

  const TemporaryDirectory place_;
  std::map<std::string, int> seen_;
};

TEST_P(Hdf5KilledRanks, LeaveWhatWasFlushedOrClosed) {
  for (unsigned seed = 1; seed <= scaled(8u, 100u); ++seed) EXPECT_EQ(run(seed), "") << "seed " << seed;
  EXPECT_GT(seen_["flushed"], 0);
}

INSTANTIATE_TEST_SUITE_P(All, Hdf5KilledRanks,
                         ::testing::Combine(::testing::Values("mpich", "openmpi"), ::testing::Values(1, 2),
                                            ::testing::Values(Words{"FOREBAY_ADMISSION_WRITE=always"},
                                                              Words{"FOREBAY_ADMISSION_WRITE=always",
                                                                    "FOREBAY_ON_FLUSH=stage"})),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) + "_" +
                                  std::to_string(std::get<1>(test.param)) + "_nodes" +
                                  (std::get<2>(test.param).size() > 1 ? "_staged" : "");
                         });

INSTANTIATE_TEST_SUITE_P(All, Hdf5Ranks,
                         ::testing::Values(Shape{"mpich", Door::kConnector}, Shape{"mpich", Door::kCacheName},
                                           Shape{"openmpi", Door::kConnector},
                                           Shape{"openmpi", Door::kCacheName}),
                         [](const auto& test) {
                           return std::string(test.param.flavour) +
                                  (test.param.door == Door::kCacheName ? "_cache_ext" : "");
                         });

// Two nodes, by host name, with memory and buffers of their own and one directory in common: what
// HDF5_CACHE_STORAGE_SCOPE GLOBAL asks for.
class Hdf5Nodes : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const auto why = DoorRun(GetParam()).missing(); !why.empty()) GTEST_SKIP() << why;
    if (testing::run("unshare", {"--uts", "true"}).code != 0)
      GTEST_SKIP() << "SKIPPED: host names cannot be changed here";
  }
  void run(const DoorRun& door, Door how, const Words& arguments) const {
    Words command{in_checkout("tests/hdf5/ranks/on_node.sh"), memory_.path(),
                  hdf5_program("h5_ranks", GetParam())};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto ran = door.run(how, place_.path(), door.on_ranks(4, command), 100);
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err.substr(0, 4000);
  }
  // The folder of this user's buffers in a tier's directory.
  static std::string own() { return format_text("/forebay-{}/", ::getuid()); }
  [[nodiscard]] std::string shared(const std::string& name) const {
    return memory_.file("shared") + own() + name;
  }

  const TemporaryDirectory place_;
  const TemporaryDirectory memory_{"/dev/shm"};
};

// Nothing is drained before it must be, so that memory does not hold it.
TEST_P(Hdf5Nodes, HaveATierInTheSameDirectory) {
  const DoorRun door(GetParam(), {"FOREBAY_DRAIN_TRIGGER=close", "FOREBAY_PRESSURE_WAIT=60s"});
  run(door, Door::kConnector, {"grow", place_.file("f.h5"), "8000"});
  run(door, Door::kConnector, {"uneven", place_.file("g.h5"), "1"});
  for (const std::string node : {"node0", "node1"}) {
    EXPECT_TRUE(std::filesystem::exists(shared("default/shared-" + node + ".data")));
    const auto status = testing::run("env", {"FOREBAY_BUFFER_DIRECTORY=" + memory_.file(node + "/control"),
                                             built("src/tools/forebay/forebay"), "status", "--json"});
    EXPECT_EQ(json_value(status.out, "d['buffers'][0]['totals']['demotions'] > 0"), "True") << status.out;
  }
}

TEST_P(Hdf5Nodes, AreGivenItByTheCacheVolsFile) {
  const auto name = std::filesystem::path(memory_.path()).filename().string();
  std::ofstream(place_.file("cache.cfg"))
      << "HDF5_CACHE_STORAGE_SCOPE: GLOBAL\nHDF5_CACHE_STORAGE_TYPE: BURST_BUFFER\n"
         "HDF5_CACHE_STORAGE_SIZE: 33554432\nHDF5_CACHE_STORAGE_PATH: "
      << memory_.file("shared") << "\n";
  const DoorRun door(GetParam(), {"HDF5_CACHE_WR=yes", "HDF5_CACHE_RD=yes", "CACHE_CFG_NAME=" + name,
                                  "HDF5_VOL_CONNECTOR=cache_ext config=" + place_.file("cache.cfg")});
  run(door, Door::kCacheName, {"uneven", place_.file("f.h5"), "2"});
  for (const std::string node : {"node0", "node1"}) {
    EXPECT_TRUE(std::filesystem::exists(shared(name + "-" + node + "/shared-" + node + ".data")));
    std::filesystem::remove_all("/dev/shm" + own() + name + "-" + node);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Hdf5Nodes, ::testing::Values("mpich", "openmpi"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace forebay::testing
