// Ranks are killed between, while and after they write, in one round after the other: whatever MPI has
// acknowledged is read by the next job, and is home after a recovery.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include "base/format.hpp"
#include "os/temporary_directory.hpp"
#include "support/door_run.hpp"
#include "support/places.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 2;
constexpr const char* kAllThere = "rank 0: 0 wrong\nrank 1: 0 wrong\n";

struct Way {
  const char* flavour;
  const char* how;
  [[nodiscard]] std::string name() const { return format_text("{}_{}", flavour, how); }
};

std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name(); }

// What a rank tells by FILE.acks (programs/acknowledged.c).
struct Told {
  long process = 0;
  long acknowledged = 0;
};

class MpiioKill : public ::testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] Words program(const char* how) const {
    return {built("tests/mpiio/mpiio_acknowledged_") + GetParam().flavour, how, file_};
  }
  [[nodiscard]] Told told(int rank) const {
    Told all[kRanks];
    const auto bytes = slurp(file_ + ".acks");
    if (bytes.size() == sizeof all) std::memcpy(all, bytes.data(), sizeof all);
    return all[rank];
  }
  // Until every rank has so many writes behind it.
  void await(long number) const {
    for (int i = 0; i < 3000; ++i) {
      bool all = true;
      for (int rank = 0; rank < kRanks; ++rank) all = all && told(rank).acknowledged >= number;
      if (all) return;
      std::this_thread::sleep_for(10ms);
    }
    ADD_FAILURE() << "the ranks do not write";
  }
  void kill(int rank) const {
    EXPECT_EQ(::kill(static_cast<pid_t>(told(rank).process), SIGKILL), 0) << "rank " << rank;
  }
  [[nodiscard]] std::string read_by_a_new_job() const {
    return door_.run(Door::kMpiio, place_.path(), door_.on_ranks(1, program("check"))).out;
  }
  [[nodiscard]] std::string read_at_home() const {
    return door_.run(Door::kNone, place_.path(), door_.on_ranks(1, program("check"))).out;
  }
  // A rank that the launcher kills may take a moment to die.
  void recover() const {
    auto recovered = door_.forebay({"recover"});
    for (int i = 0; i < 250 && recovered.out.contains("unsaved in use"); ++i) {
      std::this_thread::sleep_for(20ms);
      recovered = door_.forebay({"recover"});
    }
    EXPECT_EQ(recovered.code, 0) << recovered.out << recovered.err;
  }

  TemporaryDirectory place_{"/dev/shm"};
  std::string file_ = place_.file("file");
  DoorRun door_{GetParam().flavour};
};

TEST_P(MpiioKill, WhatWasAcknowledgedIsThere) {
  std::mt19937_64 dice(choose_seed("killed MPI-IO programs"));
  const int rounds = scaled(6, 100);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const auto before = std::max(told(0).acknowledged, told(1).acknowledged);
    Running job("env",
                door_.words(Door::kMpiio, place_.path(), door_.on_ranks(kRanks, program(GetParam().how))));
    await(before + 1);
    std::this_thread::sleep_for(std::chrono::microseconds(dice() % 200'000));
    const int first = static_cast<int>(dice() % kRanks);
    kill(first);
    // The launcher kills the other one, or the test does, which may be too late.
    if (dice() % 2 == 0) ::kill(static_cast<pid_t>(told(1 - first).process), SIGKILL);
    (void)job.wait();
    if (round % 2 == 0) {
      EXPECT_EQ(read_by_a_new_job(), kAllThere) << "round " << round;
    }
    recover();
    EXPECT_EQ(read_at_home(), kAllThere) << "round " << round;
  }
  EXPECT_GT(told(0).acknowledged, rounds);
}

INSTANTIATE_TEST_SUITE_P(All, MpiioKill,
                         ::testing::Values(Way{"mpich", "independent"}, Way{"mpich", "collective"},
                                           Way{"mpich", "nonblocking"}, Way{"openmpi", "independent"},
                                           Way{"openmpi", "collective"}, Way{"openmpi", "nonblocking"}),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace forebay::testing
