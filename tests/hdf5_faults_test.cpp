// The HDF5 door when things go wrong: killed processes, bad settings, full tiers, a home
// that fails, programs that do not close. tests/hdf5/faults is the program.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "support/door_run.hpp"
#include "support/node.hpp"
#include "support/scale.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Hdf5Faults : public ::testing::Test {
 protected:
  static Words faults(const std::string& flavour, const Words& arguments) {
    Words command{hdf5_program("h5_faults", flavour)};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
  }
  // How many datasets from the first on a file holds whole, seen natively; or what is wrong.
  static std::string whole(const std::string& path) {
    const DoorRun native("serial");
    return trimmed(native.run(Door::kNone, "/", faults("serial", {"verify", path})).out);
  }
  // Runs the program with the door in the place's directory.
  Ran run(const Words& arguments, Words more = {}) {
    door_.emplace("serial", std::move(more));
    return door_->run(Door::kConnector, place_.path(), faults("serial", arguments));
  }
  // Waits until the program has left that marker.
  bool appears(const std::string& marker) {
    for (int i = 0; i < 60'000 && !std::filesystem::exists(place_.file(marker)); ++i) {
      std::this_thread::sleep_for(1ms);
    }
    return std::filesystem::exists(place_.file(marker));
  }
  // The words that run it with nothing in between, so that a kill hits the program.
  Words bare(const Words& arguments) const {
    auto words = door_->words(Door::kConnector, place_.path(), {});
    words.resize(words.size() - 3);  // `timeout`
    const auto command = faults("serial", arguments);
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  std::string recovered() {
    const auto ran = door_->forebay({"recover", "--timeout", "30s"});
    return ran.code == 0 ? "" : ran.out + ran.err;
  }

  TemporaryDirectory place_;
  std::optional<DoorRun> door_;
};

#define FOREBAY_NEED_PLUGIN(flavour) \
  if (const auto why = DoorRun(flavour).missing(); !why.empty()) GTEST_SKIP() << why

TEST_F(Hdf5Faults, KilledAfterFlush) {
  FOREBAY_NEED_PLUGIN("serial");
  // With on_flush: stage the flush has only staged, and recover has something to carry.
  for (const std::string on_flush : {"home", "stage"}) {
    for (unsigned round = 0; round < scaled(2u, 30u); ++round) {
      std::filesystem::remove(place_.file("flushed"));
      door_.emplace("serial", Words{"FOREBAY_ON_FLUSH=" + on_flush});
      Running running("env", bare({"flush_and_wait", place_.file("f.h5")}));
      ASSERT_TRUE(appears("flushed"));
      std::this_thread::sleep_for(std::chrono::milliseconds(round * 7));
      running.kill();
      (void)running.wait();
      EXPECT_EQ(recovered(), "");
      EXPECT_EQ(whole(place_.file("f.h5")), "10") << "on_flush=" << on_flush;
    }
  }
}

TEST_F(Hdf5Faults, KilledWhileClosing) {
  FOREBAY_NEED_PLUGIN("serial");
  for (unsigned round = 0; round < scaled(20u, 300u); ++round) {
    std::filesystem::remove(place_.file("closing"));
    std::filesystem::remove(place_.file("closed"));
    door_.emplace("serial");
    Running running("env", bare({"flush_and_close", place_.file("f.h5")}));
    ASSERT_TRUE(appears("closing"));
    std::this_thread::sleep_for(std::chrono::microseconds(round % 40 * 250));
    running.kill();
    (void)running.wait();
    const bool closed = std::filesystem::exists(place_.file("closed"));
    EXPECT_EQ(recovered(), "");
    const auto found = whole(place_.file("f.h5"));
    if (closed) {
      EXPECT_EQ(found, "20") << "H5Fclose had returned";
    } else {
      EXPECT_TRUE(found == "10" || found == "20") << "round " << round << ": " << found;
    }
  }
}

// Whatever HDF5 had written of its own accord since the last flush: the file is what a flush left.
class Hdf5Churn : public Hdf5Faults, public ::testing::WithParamInterface<Words> {};

TEST_P(Hdf5Churn, KilledAtAnyMomentLeavesAFlushedState) {
  FOREBAY_NEED_PLUGIN("serial");
  const DoorRun native("serial");
  std::mt19937 random(41);
  for (unsigned round = 0; round < scaled(8u, 200u); ++round) {
    std::filesystem::remove(place_.file("flushed"));
    door_.emplace("serial", GetParam());
    Running running("env", bare({"churn", place_.file("f.h5"), std::to_string(round)}));
    ASSERT_TRUE(appears("flushed"));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    running.kill();
    (void)running.wait();
    EXPECT_EQ(recovered(), "");
    const auto found =
        native.run(Door::kNone, "/", faults("serial", {"verify_churned", place_.file("f.h5")}));
    EXPECT_EQ(trimmed(found.out), "whole") << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Hdf5Churn,
                         ::testing::Values(Words{}, Words{"FOREBAY_ON_FLUSH=stage"},
                                           Words{"FOREBAY_DRAIN_DELAY=0s"},
                                           Words{"HDF5_VOL_CONNECTOR=native", "HDF5_DRIVER=forebay"}),
                         [](const auto& test) { return "way" + std::to_string(test.index); });

TEST_F(Hdf5Faults, MissingPluginPath) {
  const DoorRun native("serial");
  auto words = native.words(Door::kNone, place_.path(), faults("serial", {"write", "f.h5"}));
  words.insert(words.begin() + 2, {"HDF5_PLUGIN_PATH=/nowhere", "HDF5_VOL_CONNECTOR=forebay"});
  const auto ran = testing::run("env", words);
  EXPECT_EQ(ran.signal, 0);
  // HDF5 says what it misses, and may go on without.
  EXPECT_NE(ran.err, "");
  if (ran.code == 0) {
    EXPECT_EQ(whole(place_.file("f.h5")), "50");
  }
}

TEST_F(Hdf5Faults, PluginOfAnotherFlavour) {
  FOREBAY_NEED_PLUGIN("mpich");
  const DoorRun native("serial");
  for (const std::string flavour : {"mpich", "openmpi"}) {
    auto words = native.words(Door::kNone, place_.path(), faults("serial", {"write", "f.h5"}));
    words.insert(words.begin() + 2,
                 {"HDF5_PLUGIN_PATH=" + DoorRun::plugins(flavour), "HDF5_VOL_CONNECTOR=forebay"});
    const auto ran = testing::run("env", words);
    EXPECT_LT(ran.code, 124) << "it crashed or hung";
    EXPECT_NE(ran.code, -1) << "it crashed with signal " << ran.signal;
    if (ran.code == 0) {
      EXPECT_EQ(whole(place_.file("f.h5")), "50");
    } else {
      EXPECT_NE(ran.err.find("flavour"), std::string::npos) << ran.err.substr(0, 2000);
    }
  }
}

// HDF5 asks every plugin that it finds about a file which it cannot open.
TEST_F(Hdf5Faults, APluginThatNobodyAskedForMakesNoBuffer) {
  FOREBAY_NEED_PLUGIN("serial");
  std::ofstream(place_.file("notes.txt")) << "no HDF5\n";
  for (const std::string file : {"notes.txt", "nothing.h5"}) {
    const DoorRun native("serial");
    auto words = native.words(Door::kNone, place_.path(), faults("serial", {"verify", file}));
    words.insert(words.begin() + 2, {"HDF5_PLUGIN_PATH=" + DoorRun::plugins("serial"),
                                     "FOREBAY_BUFFER_DIRECTORY=" + place_.file("control"),
                                     "FOREBAY_TIERS=memory:" + place_.path() + ":4MiB"});
    const auto ran = testing::run("env", words);
    EXPECT_EQ(trimmed(ran.out), "cannot be opened");
    EXPECT_EQ(ran.err, "");
    EXPECT_FALSE(std::filesystem::exists(place_.file("control"))) << file;
  }
}

// Either the program has its native result, or it is told what is wrong with which file.
TEST_F(Hdf5Faults, BadConfiguration) {
  FOREBAY_NEED_PLUGIN("serial");
  std::ofstream(place_.file("garbage.yaml")) << "drain: [what is\n";
  std::ofstream(place_.file("wrong.yaml")) << "drain.trigge: never\n";
  for (const Words& bad :
       {Words{"HDF5_VOL_CONNECTOR=forebay under_vol=0;under_info={};config=/nowhere.yaml"},
        Words{"HDF5_VOL_CONNECTOR=forebay under_vol=0;under_info={};config=" + place_.file("garbage.yaml")},
        Words{"HDF5_VOL_CONNECTOR=forebay under_vol=0;under_info={};config=" + place_.file("wrong.yaml")},
        Words{"HDF5_VOL_CONNECTOR=forebay under_vol=banana;under_info={"},
        Words{"FOREBAY_CONFIG=" + place_.file("garbage.yaml")}, Words{"FOREBAY_MODE=asinc"},
        Words{"FOREBAY_TIERS=memory:/nowhere/at/all:64MiB"},
        Words{"FOREBAY_BUFFER_DIRECTORY=/proc/nowhere"}}) {
    std::filesystem::remove(place_.file("f.h5"));
    const auto ran = run({"write", place_.file("f.h5")}, bad);
    EXPECT_EQ(ran.signal, 0) << bad[0];
    EXPECT_LT(ran.code, 124) << bad[0] << ": it crashed or hung";
    EXPECT_NE(ran.err, "") << bad[0] << ": nobody was told";
    if (ran.code == 0) {
      EXPECT_EQ(whole(place_.file("f.h5")), "50") << bad[0];
    }
  }
}

TEST_F(Hdf5Faults, TierThatIsFull) {
  FOREBAY_NEED_PLUGIN("serial");
  const TemporaryDirectory memory("/dev/shm");
  const auto ran =
      run({"write", place_.file("f.h5")}, {"FOREBAY_TIERS=memory:" + memory.path() + ":256KiB",
                                           "FOREBAY_DRAIN_TRIGGER=close", "FOREBAY_PRESSURE_WAIT=100ms"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(whole(place_.file("f.h5")), "50");
}

class Hdf5FailingHome : public Hdf5Faults, public ::testing::WithParamInterface<const char*> {};

TEST_P(Hdf5FailingHome, IsReportedAndNothingIsLost) {
  FOREBAY_NEED_PLUGIN("serial");
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  SlowfsMount home;
  const auto path = (home.path() / "f.h5").string();
  // Nothing goes home before the flush: a write that is told of a failure is not acknowledged.
  door_.emplace("serial", Words{"FOREBAY_LIMITS_HOME_WAIT=3s", "FOREBAY_DRAIN_TRIGGER=close"});
  Running running("env",
                  door_->words(Door::kConnector, place_.path(), faults("serial", {"write_when_told", path})));
  ASSERT_TRUE(appears("made"));
  home.control(std::string("fail_write=") + GetParam());
  std::ofstream(place_.file("go")) << "on\n";
  const auto ran = running.wait();
  EXPECT_EQ(ran.signal, 0);
  EXPECT_EQ(ran.code, 1) << "no call failed: " << ran.out << ran.err.substr(0, 2000);
  home.control("fail_write=none");
  EXPECT_EQ(recovered(), "");
  // Whatever was acknowledged is home now; HDF5 itself may have given up before the rest.
  const auto found = whole((home.source() / "f.h5").string());
  EXPECT_EQ(found, "50") << ran.out;
}

INSTANTIATE_TEST_SUITE_P(All, Hdf5FailingHome, ::testing::Values("EIO", "ENOSPC", "EDQUOT"),
                         [](const auto& test) { return std::string(test.param); });

// A way of writing, and how many datasets are whole in the end.
struct Written {
  const char* way;
  const char* whole;
};

class Hdf5Events : public Hdf5Faults, public ::testing::WithParamInterface<Written> {
 protected:
  // What the program answered where home does that from the moment on when all it made is home.
  Ran run_while(SlowfsMount& home, const std::string& what) {
    door_.emplace("serial", Words{"FOREBAY_LIMITS_HOME_WAIT=3s", "FOREBAY_DRAIN_TRIGGER=close"});
    const auto path = (home.path() / "f.h5").string();
    Running running("env", door_->words(Door::kConnector, place_.path(),
                                        faults("serial", {"events", path, GetParam().way})));
    EXPECT_TRUE(appears("made"));
    home.control(what);
    std::ofstream(place_.file("go")) << "on\n";
    return running.wait();
  }
};

class Hdf5FailingEvents : public Hdf5Events {};

TEST_P(Hdf5FailingEvents, SayWhyAndNothingIsLost) {
  FOREBAY_NEED_PLUGIN("serial");
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  SlowfsMount home;
  const auto ran = run_while(home, "fail_write=ENOSPC");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err.substr(0, 2000);
  EXPECT_NE(ran.out.find("failures: 1\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("f.h5"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("No space left on device"), std::string::npos) << ran.out;
  if (std::string_view(GetParam().way) != "close") {
    EXPECT_NE(ran.out.find("close: 0 -1\n"), std::string::npos) << ran.out;
  }
  home.control("fail_write=none");
  EXPECT_EQ(recovered(), "");
  EXPECT_EQ(whole((home.source() / "f.h5").string()), GetParam().whole);
}

INSTANTIATE_TEST_SUITE_P(All, Hdf5FailingEvents,
                         ::testing::Values(Written{"contiguous", "3"}, Written{"chunked", "2"},
                                           Written{"filtered", "4"}, Written{"close", "3"}),
                         [](const auto& test) { return std::string(test.param.way); });

class Hdf5CancelledEvents : public Hdf5Events {};

TEST_P(Hdf5CancelledEvents, GoOn) {
  FOREBAY_NEED_PLUGIN("serial");
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  SlowfsMount home;
  const auto ran = run_while(home, "latency=200ms");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err.substr(0, 2000);
  EXPECT_EQ(whole((home.source() / "f.h5").string()), GetParam().whole);
}

INSTANTIATE_TEST_SUITE_P(All, Hdf5CancelledEvents, ::testing::Values(Written{"cancel", "3"}),
                         [](const auto& test) { return std::string(test.param.way); });

struct Way {
  const char* name;
  const char* whole;  // datasets that must be home
  bool aborts;
};

class Hdf5Leaving : public Hdf5Faults, public ::testing::WithParamInterface<Way> {};

TEST_P(Hdf5Leaving, IsAsNatively) {
  FOREBAY_NEED_PLUGIN("serial");
  const DoorRun native("serial");
  const auto command = faults("serial", {"leave", place_.file("native.h5"), GetParam().name});
  const auto alone = native.run(Door::kNone, place_.path(), command, 60);
  const auto with = run({"leave", place_.file("door.h5"), GetParam().name});
  EXPECT_LT(with.code, 124 + (GetParam().aborts ? 20 : 0))
      << "it hangs or crashed: " << with.err.substr(0, 2000);
  EXPECT_EQ(with.code, alone.code) << with.err.substr(0, 2000);
  if (GetParam().aborts) {
    EXPECT_EQ(recovered(), "");
  }
  EXPECT_EQ(whole(place_.file("native.h5")), GetParam().whole);
  EXPECT_EQ(whole(place_.file("door.h5")), GetParam().whole);
  for (int i = 0; i < 30 && std::filesystem::exists(place_.file("native.h5" + std::to_string(i))); ++i) {
    EXPECT_EQ(whole(place_.file("door.h5" + std::to_string(i))), "2") << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Hdf5Leaving,
    ::testing::Values(Way{"forget", "3", false}, Way{"exit", "3", false}, Way{"exit_in_handler", "3", false},
                      Way{"write_in_handler", "5", false}, Way{"flush_and_quick_exit", "3", false},
                      Way{"flush_and_abort", "3", true}, Way{"many_open", "3", false},
                      Way{"close_async_and_forget", "3", false}, Way{"fork", "6", false},
                      Way{"fork_and_read", "3", false}, Way{"fork_and_write", "6", false},
                      Way{"fork_between_flushes", "3", false}, Way{"fork_and_abandon", "6", false},
                      Way{"beside_another_opener", "6", false}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Hdf5Faults, Threads) {
  FOREBAY_NEED_PLUGIN("serial");
  for (unsigned round = 0; round < scaled(3u, 50u); ++round) {
    const auto ran = run({"threads", place_.file("f.h5")});
    ASSERT_EQ(ran.code, 0) << ran.err.substr(0, 4000);
    EXPECT_EQ(whole(place_.file("f.h5")), "32");
    EXPECT_EQ(whole(place_.file("f.h52")), "8");
  }
}

}  // namespace
}  // namespace forebay::testing
