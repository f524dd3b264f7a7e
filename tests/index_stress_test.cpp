// The index under attack: buckets of few chains are inserted, found and removed all the time, so that every
// descriptor is reused while somebody else walks over it (X1, X2, X3).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "engine/attach.hpp"
#include "engine/core.hpp"
#include "support/child.hpp"
#include "support/place.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include "support/shared_memory.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kWalkers = 4;
constexpr unsigned kKeysEach = 4;

struct Progress {
  std::atomic<bool> stop;
  std::atomic<std::uint64_t> operations;
  std::atomic<std::uint64_t> violations;
};

std::unique_ptr<Core> join(const Place& place) {
  auto joined = join_buffer(place.settings(), true).value();
  return std::make_unique<Core>(std::move(joined.settings), Profile{}, std::move(joined.control),
                                std::move(joined.peers), std::move(joined.tiers));
}

// Keys that all fall into two chains.
std::vector<Key> colliding_keys(const Core& core) {
  std::vector<Key> keys;
  for (std::uint64_t block = 0; keys.size() < kWalkers * kKeysEach; ++block) {
    if (const auto key = make_key(0, 1, block); core.buckets.chain_number(key) < 2) keys.push_back(key);
  }
  return keys;
}

// Keeps its own keys in and out of the index, and knows at every moment which are in.
class Walker {
 public:
  Walker(Core& core, Progress& progress, unsigned me, std::uint64_t seed)
      : core_(core), progress_(progress), random_(seed) {
    const auto keys = colliding_keys(core);
    for (unsigned i = 0; i < kKeysEach; ++i) {
      mine_[i] = keys[me * kKeysEach + i];
      // What a predecessor left.
      if (const auto found = core.buckets.find(mine_[i])) remove(i, *found);
    }
  }

  void step() {
    const auto i = static_cast<unsigned>(random_() % kKeysEach);
    const auto found = core_.buckets.find(mine_[i]);
    if (in_[i]) {
      // X1, X2: what is linked is found, whatever happens to its neighbours.
      if (!found) return wrong();
      const auto guard = core_.buckets.lock(*found, mine_[i]);
      if (!guard || !*guard) return wrong();
    } else if (found) {
      // X3: a hit of a walk that was led astray does not survive the look under the lock.
      const auto guard = core_.buckets.lock(*found, mine_[i]);
      if (guard && *guard) return wrong();
    }
    if (random_() % 2 == 0) return;
    if (in_[i]) {
      remove(i, *found);
    } else {
      const auto inserted = core_.buckets.insert(mine_[i], 0);
      if (inserted && !inserted->fresh) return wrong();
      in_[i] = inserted.has_value();
    }
  }

 private:
  void wrong() { progress_.violations.fetch_add(1); }
  void remove(unsigned i, std::uint32_t bucket) {
    // Somebody may be looking at it for a moment.
    for (int attempt = 0; attempt < 100'000 && core_.buckets.find(mine_[i]); ++attempt)
      core_.buckets.evict(bucket, mine_[i]);
    in_[i] = core_.buckets.find(mine_[i]).has_value();
    if (in_[i]) wrong();
  }

  Core& core_;
  Progress& progress_;
  std::mt19937_64 random_;
  std::array<Key, kKeysEach> mine_{};
  std::array<bool, kKeysEach> in_{};
};

TEST(IndexStress, FourProcessesAndKills) {
  const auto seed = choose_seed("index");
  std::mt19937_64 random(seed);
  const Place place({.stack = Stack::kMemory});
  const SharedMemory<Progress> progress;
  const auto run = [&](unsigned me, std::uint64_t its_seed) {
    set_log_level(LogLevel::Off);
    auto core = join(place);
    core->buckets.sweep();
    Walker walker(*core, *progress, me, its_seed);
    while (!progress->stop.load()) {
      walker.step();
      progress->operations.fetch_add(1, std::memory_order_relaxed);
    }
    return 0;
  };
  std::vector<Child> children(kWalkers);
  for (int kills = 0; kills < scaled(30, 3000) && progress->violations.load() == 0; ++kills) {
    for (unsigned i = 0; i < kWalkers; ++i) {
      if (children[i].ended()) children[i] = Child([&, i, its_seed = random()] { return run(i, its_seed); });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    children[random() % kWalkers].end();
  }
  progress->stop.store(true);
  for (auto& child : children) EXPECT_TRUE(child.ended() || child.finished(30s)) << "a survivor hangs";
  EXPECT_EQ(progress->violations.load(), 0u);
  std::printf("%llu operations\n", static_cast<unsigned long long>(progress->operations.load()));
  // Nothing is lost: with everybody gone, the index can be filled to the last slot.
  auto core = join(place);
  core->buckets.sweep();
  for (const auto key : colliding_keys(*core)) {
    const auto found = core->buckets.find(key);
    EXPECT_TRUE(!found || core->buckets.evict(*found, key));
  }
  for (std::uint64_t block = 0; block < core->tiers[0].slots; ++block) {
    EXPECT_TRUE(core->buckets.insert(make_key(1, 1, block), 0))
        << "slot or descriptor " << block << " was lost";
  }
}

TEST(IndexStress, ThreadsOfOneProcess) {
  const auto seed = choose_seed("index");
  const Place place({.stack = Stack::kMemory});
  auto core = join(place);
  Progress progress{};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kWalkers; ++t) {
    threads.emplace_back([&, t] {
      Walker walker(*core, progress, t, seed + t);
      for (int i = 0; i < scaled(20'000, 500'000); ++i) walker.step();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(progress.violations.load(), 0u);
}

}  // namespace
}  // namespace forebay::testing
