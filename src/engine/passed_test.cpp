#include "engine/passed.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "base/format.hpp"

namespace forebay {
namespace {

TEST(Passed, ReasonsAreCountedForEverybodyAndForOneself) {
  const auto table = std::make_unique<PassedTable>();
  PassedNotes one(*table);
  PassedNotes two(*table);
  one.note("compact");
  two.note("filtered");
  two.note("filtered");
  one.note("filtered");
  const auto all = passed_of(*table);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].why, "filtered");
  EXPECT_EQ(all[0].times, 3U);
  EXPECT_EQ(all[1].times, 1U);
  ASSERT_EQ(one.own().size(), 2U);
  EXPECT_EQ(one.own()[0].times, 1U);
}

TEST(Passed, WhatDoesNotFitIsCountedTogether) {
  const auto table = std::make_unique<PassedTable>();
  PassedNotes notes(*table);
  for (int i = 0; i < 100; ++i) notes.note(format_text("reason {}", i));
  std::uint64_t sum = 0;
  for (const auto& [why, times] : passed_of(*table)) sum += times;
  EXPECT_EQ(sum, 100U);
  EXPECT_EQ(passed_of(*table).front().why, "other reasons");
  notes.note(std::string(1000, 'x'));
}

TEST(Passed, ManyWhoNameAReasonAtOnceLoseNoCount) {
  const auto table = std::make_unique<PassedTable>();
  PassedNotes notes(*table);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) notes.note(i % 2 == 0 ? "even" : "odd");
      });
    }
  }
  const auto all = passed_of(*table);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].times, 2000U);
  EXPECT_EQ(all[1].times, 2000U);
}

}  // namespace
}  // namespace forebay
