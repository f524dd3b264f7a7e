// Locks that survive their owners: threads and processes contend, owners are killed with the lock held.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "engine/attach.hpp"
#include "support/child.hpp"
#include "support/place.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include "support/shared_memory.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kProcesses = 4;
constexpr unsigned kThreads = 2;

struct Contended {
  Word lock;
  std::uint64_t inside;   // guarded by lock: 0, or who is in
  std::uint64_t entries;  // guarded by lock
  std::atomic<std::uint64_t> counted;
  std::atomic<std::uint64_t> taken_over;
  std::atomic<bool> stop;
  std::atomic<std::uint64_t> violations;
};

// The guarded words change in two steps, so that a second owner inside would be seen.
void enter(Contended& shared, const Peers& peers, std::uint64_t me) {
  const auto locked = peers.lock(shared.lock);
  if (locked == Locked::kTimedOut) {
    shared.violations.fetch_add(1);
    return;
  }
  if (locked == Locked::kTakenOver) {
    shared.taken_over.fetch_add(1);
    shared.inside = 0;
  }
  if (shared.inside != 0) shared.violations.fetch_add(1);
  shared.inside = me;
  const auto before = shared.entries;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  shared.entries = before + 1;
  if (shared.inside != me) shared.violations.fetch_add(1);
  shared.inside = 0;
  peers.unlock(shared.lock);
  shared.counted.fetch_add(1);
}

int contend(const Place& place, Contended& shared, std::uint64_t number) {
  auto joined = join_buffer(place.settings(), true).value();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      while (!shared.stop.load()) enter(shared, joined.peers, number * kThreads + t + 1);
    });
  }
  for (auto& thread : threads) thread.join();
  return 0;
}

TEST(LockStress, NobodyEntersTwiceAndTheDeadAreReplaced) {
  std::mt19937_64 random(choose_seed("locks"));
  const Place place;
  const SharedMemory<Contended> shared;
  std::vector<Child> children(kProcesses);
  std::uint64_t number = 0;
  unsigned kills = 0;
  for (const auto wanted = scaled(40u, 2000u); kills < wanted;) {
    for (auto& child : children) {
      if (!child.ended()) continue;
      ++number;
      child = Child([&, number] { return contend(place, *shared, number); });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    children[random() % kProcesses].end();
    ++kills;
    ASSERT_EQ(shared->violations.load(), 0u) << "after " << kills << " kills";
  }
  shared->stop.store(true);
  for (auto& child : children) EXPECT_TRUE(child.ended() || child.finished(30s)) << "a survivor hangs";
  EXPECT_EQ(shared->violations.load(), 0u);
  // Who died between its entry and its count makes the difference.
  EXPECT_GE(shared->entries, shared->counted.load());
  EXPECT_LE(shared->entries, shared->counted.load() + kills * kThreads);
  std::printf("%u kills, %llu entries, %llu locks taken over\n", kills,
              static_cast<unsigned long long>(shared->entries),
              static_cast<unsigned long long>(shared->taken_over.load()));
}

TEST(LockStress, ThreadsOfOneProcessExcludeEachOther) {
  const Place place;
  auto joined = join_buffer(place.settings(), true).value();
  Contended shared{};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20'000; ++i) enter(shared, joined.peers, t + 1);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(shared.entries, 80'000u);
  EXPECT_EQ(shared.violations.load(), 0u);
}

TEST(LockStress, AStoppedOwnerIsWaitedForAndThenNamed) {
  const Place place({.overrides = "limits.lock_wait=200ms"});
  const SharedMemory<Contended> shared;
  Child owner([&] {
    auto joined = join_buffer(place.settings(), true).value();
    (void)joined.peers.lock(shared->lock);
    shared->inside = 1;
    shared->stop.store(true);
    ::pause();
    return 0;
  });
  while (!shared->stop.load()) std::this_thread::sleep_for(1ms);
  owner.signal(SIGSTOP);
  auto joined = join_buffer(place.settings(), true).value();
  EXPECT_EQ(joined.peers.lock(shared->lock), Locked::kTimedOut) << "stopped is not dead";
  owner.end();
  EXPECT_EQ(joined.peers.lock(shared->lock), Locked::kTakenOver);
}

}  // namespace
}  // namespace forebay::testing
