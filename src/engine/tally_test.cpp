#include "engine/tally.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace forebay {
namespace {

TEST(Tally, WhatManyThreadsCountAddsUp) {
  const auto record = std::make_unique<LeaseRecord>();
  Tally tally(*record);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) tally.add(&Counters::hit_bytes, 3);
    });
  }
  for (int i = 0; i < 20'000; ++i) tally.add(&Counters::hit_bytes, 3);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counted(*record, &Counters::hit_bytes), 5u * 20'000 * 3);
  EXPECT_EQ(counted(*record, &Counters::reads), 0u);
}

TEST(Tally, ThreadsThatFollowEachOtherLoseNothing) {
  const auto record = std::make_unique<LeaseRecord>();
  Tally tally(*record);
  for (int t = 0; t < 50; ++t) std::thread([&] { tally.add(&Counters::writes); }).join();
  EXPECT_EQ(counted(*record, &Counters::writes), 50u);
}

}  // namespace
}  // namespace forebay
