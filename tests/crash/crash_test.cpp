// Processes that work on shared files are killed at every named crash point, and at random moments; the
// others go on and must see no wrong byte; at the end everything dies, and a fresh process carries home what
// was acknowledged.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/format.hpp"
#include "base/log.hpp"
#include "crash/crash_points.hpp"
#include "support/child.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include "support/worker.hpp"

namespace forebay::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kWorkers = 3;
constexpr auto kStuck = std::chrono::seconds(60);

std::string some_settings(std::mt19937_64& random, Stack stack) {
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random() % choices.size()]);
  };
  return "buffer.max_files=16 limits.fragment_memory=64KiB readahead.min=4KiB readahead.max=64KiB"
         " pressure.low_water=20% pressure.high_water=50% admission.read=always"
         " pressure.wait=" +
         pick({"0s", "1ms", "10ms"}) + " drain.delay=" + pick({"0s", "2ms", "20ms"}) +
         " drain.trigger=" + pick({"write", "write", "close"}) + " on_close=" + pick({"home", "detach"}) +
         some_promises(random, stack);
}

// One buffer and its workers, from its making to its recovery.
class Epoch {
 public:
  Epoch(CrashPoints& points, std::uint64_t seed)
      : points_(points), random_(seed), place_(shape(random_)), settings_words_(std::to_string(seed)) {
    found(*truth_, place_, kWorkers, random_());
  }

  // Kills until `kills` have died in this epoch, or something is wrong.
  void run(unsigned kills) {
    make();
    workers_.resize(kWorkers);
    const auto until = Clock::now() + kStuck * 4;
    for (unsigned i = 0; i < kWorkers; ++i) start(i);
    while (dead_ < kills && !failed() && Clock::now() < until) {
      for (unsigned i = 0; i < kWorkers && !failed(); ++i) tend(i);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    finish();
    recover();
    for (unsigned f = 0; f < kFiles && !failed(); ++f) EXPECT_EQ(compare_home(*truth_, place_, f), "");
  }
  [[nodiscard]] unsigned dead() const { return dead_; }
  [[nodiscard]] unsigned at_random() const { return at_random_; }

 private:
  struct Running {
    Child child;
    Clock::time_point fate;  // when it is killed, if it still lives
    std::uint64_t operations = 0;
    Clock::time_point progress;
  };

  static PlaceOptions shape(std::mt19937_64& random) {
    const Stack stacks[] = {Stack::kMemory, Stack::kMemoryAndDisk, Stack::kMemoryAndDisk, Stack::kThree};
    const auto stack = stacks[random() % 4];
    return {.stack = stack,
            .bucket_kib = random() % 3 == 0 ? 16u : 4u,
            .overrides = some_settings(random, stack)};
  }
  static bool failed() { return ::testing::Test::HasFailure(); }

  // The point that was struck least, among those drawn.
  int choose_point() {
    int best = kNoPoint;
    for (int i = 0; i < 6; ++i) {
      const int drawn = static_cast<int>(random_() % points_.count);
      const auto struck = [&](int p) { return points_.killed[static_cast<std::size_t>(p)].load(); };
      if (best == kNoPoint || struck(drawn) < struck(best)) best = drawn;
    }
    return best;
  }

  // Creators that die over it; the last one lives.
  void make() {
    for (int i = 0; i < 2 && !failed(); ++i) {
      const char* where[] = {"create.reserved", "create.header", "create.tiers", "join.before_attached"};
      const int point = points_.find(where[random_() % 4]);
      Child creator([&, point] {
        set_log_level(LogLevel::Off);
        arm(points_, point, 1);
        auto buffer = place_.attach();
        return 0;
      });
      const auto status = creator.wait(kStuck);
      EXPECT_TRUE(status && (Child::was_killed(*status) || Child::was_well(*status))) << "a creator failed";
      if (status && Child::was_killed(*status)) ++dead_;
    }
  }

  void start(unsigned i) {
    auto& running = workers_[i];
    const bool named = random_() % 5 != 0;
    const int point = named ? choose_point() : kNoPoint;
    // Often passed points also late, when there is more to break.
    const auto often =
        named ? points_.passed[static_cast<std::size_t>(point)].load() / (points_.kills() + 1) : 0;
    const int nth = 1 + static_cast<int>(random_() % (1 + std::min<std::uint64_t>(often, 200)));
    const auto seed = random_();
    running.child = Child([&, i, point, nth, seed] {
      set_log_level(LogLevel::Off);
      arm(points_, point, nth);
      Worker worker(*truth_, i, place_, seed);
      worker.attach();
      worker.work(~std::uint64_t{0});
      arm(points_, kNoPoint, 0);
      worker.detach();
      return 0;
    });
    running.fate = Clock::now() + std::chrono::milliseconds(named ? 150 + random_() % 150 : random_() % 60);
    running.operations = 0;
    running.progress = Clock::now();
  }

  void tend(unsigned i) {
    auto& running = workers_[i];
    if (const auto status = running.child.ended()) {
      if (!Child::was_killed(*status)) {
        ADD_FAILURE() << "worker " << i << " ended with status " << *status << " while doing "
                      << truth_->worker[i].doing.data();
        return;
      }
      ++dead_;
      start(i);
      return;
    }
    const auto now = Clock::now();
    const auto operations = truth_->worker[i].operations.load();
    if (operations != running.operations) running.progress = now;
    running.operations = operations;
    if (now - running.progress > kStuck) {
      ADD_FAILURE() << "worker " << i << " hangs while doing " << truth_->worker[i].doing.data();
    } else if (now > running.fate && others_are_well(i)) {
      running.child.kill();
      running.fate = Clock::time_point::max();
      ++at_random_;
    }
  }

  // A hang is only seen if somebody is left to hang.
  bool others_are_well(unsigned i) {
    for (unsigned k = 0; k < kWorkers; ++k) {
      if (k != i && workers_[k].child.ended()) return false;
    }
    return true;
  }

  // Either all die at once, or all stop and leave.
  void finish() {
    if (failed() || random_() % 3 != 0) {
      for (auto& worker : workers_) worker.child.kill();
      for (auto& worker : workers_) worker.child.end();
      dead_ += kWorkers;
      return;
    }
    truth_->stop.store(true);
    for (unsigned i = 0; i < kWorkers; ++i) {
      const auto status = workers_[i].child.wait(kStuck);
      const bool fine = status && (Child::was_well(*status) || Child::was_killed(*status));
      EXPECT_TRUE(fine) << "worker " << i << " does not leave; it is doing "
                        << truth_->worker[i].doing.data();
      if (status && Child::was_killed(*status)) ++dead_;
      workers_[i].child.end();
    }
  }

  // What `forebay recover` does, by processes that die over it until one gets through.
  void recover() {
    for (int attempt = 0; !failed(); ++attempt) {
      const int point = attempt < 4 && random_() % 2 == 0 ? choose_point() : kNoPoint;
      const auto seed = random_();
      Child recoverer([&, point, seed] {
        set_log_level(LogLevel::Off);
        arm(points_, point, 1 + static_cast<int>(seed % 3));
        const auto buffer = place_.attach();
        buffer->recover();
        if (const auto status = buffer->drain(std::chrono::seconds(30)); !status) {
          throw std::runtime_error("recover: " + status.error().message);
        }
        if (const auto status = buffer->detach(); !status)
          throw std::runtime_error("recover: " + status.error().message);
        return 0;
      });
      if (attempt < 4 && random_() % 4 == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 10));
        recoverer.kill();
      }
      const auto status = recoverer.wait(kStuck);
      if (status && Child::was_killed(*status)) {
        ++dead_;
        continue;
      }
      EXPECT_TRUE(status && Child::was_well(*status))
          << (status ? "the recovery failed" : "the recovery hangs");
      return;
    }
  }

  CrashPoints& points_;
  std::mt19937_64 random_;
  const Place place_;
  const std::string settings_words_;
  const SharedMemory<Truth> truth_;
  std::vector<Running> workers_;
  unsigned dead_ = 0;
  unsigned at_random_ = 0;
};

TEST(Crash, NothingAcknowledgedIsLostAndNobodyHangs) {
  const auto seed = choose_seed("crash");
  const SharedMemory<CrashPoints> points;
  points->read_sources();
  const auto wanted = scaled(250u, 2500u);
  const auto longest = Clock::now() + std::chrono::seconds(scaled(240, 7200));
  unsigned dead = 0;
  unsigned at_random = 0;
  const auto never_struck = [&] {
    std::string names;
    for (std::size_t i = 0; i < points->count; ++i) {
      if (points->killed[i].load() == 0) names += std::string(points->names[i].data()) + " ";
    }
    return names;
  };
  for (std::uint64_t epoch = 0; !HasFailure() && (dead < wanted || !never_struck().empty()); ++epoch) {
    if (Clock::now() > longest) break;
    SCOPED_TRACE(format_text("epoch {} of seed {}", epoch, seed));
    Epoch one(*points, seed + epoch);
    one.run(20);
    dead += one.dead();
    at_random += one.at_random();
  }
  std::printf("%u processes killed, %u of them at random moments:\n", dead, at_random);
  points->print();
  EXPECT_GE(dead, wanted);
  EXPECT_EQ(never_struck(), "") << "no process was killed there: is the point reached at all?";
}

}  // namespace
}  // namespace forebay::testing
