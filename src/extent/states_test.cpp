// RunList and ByteMap against a plain array of states.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "extent/byte_map.hpp"
#include "extent/run_list.hpp"

namespace forebay {
namespace {

constexpr std::uint32_t kSize = 256;
using Model = std::vector<ByteState>;

template <class States>
Model expand(const States& for_each) {
  Model model(kSize, ByteState::kInvalid);
  std::uint32_t expected = 0;
  for_each([&](std::uint32_t b, std::uint32_t e, ByteState s) {
    EXPECT_EQ(b, expected);
    expected = e;
    std::fill(model.begin() + b, model.begin() + e, s);
  });
  EXPECT_EQ(expected, kSize);
  return model;
}

ByteState random_map(unsigned kind, ByteState s) {
  if (kind < 4) return static_cast<ByteState>(kind);
  if (kind == 4) return s == ByteState::kDirty ? ByteState::kClaimed : s;
  return s == ByteState::kClaimed ? ByteState::kValid : s;
}

TEST(RunList, AgreesWithAnArrayUntilItIsFull) {
  std::mt19937 random(11);
  int full = 0;
  for (int round = 0; round < 300; ++round) {
    auto list = RunList::uniform(ByteState::kInvalid);
    Model model(kSize, ByteState::kInvalid);
    for (int step = 0; step < 60; ++step) {
      const auto a = static_cast<std::uint32_t>(random() % kSize);
      const auto b = a + static_cast<std::uint32_t>(random() % std::min(kSize - a + 1, 12u));
      const auto kind = static_cast<unsigned>(random() % 6);
      RunList next;
      if (!list.rewrite(a, b, kSize, RunList::kCapacity, next, [&](ByteState s) { return random_map(kind, s); })) {
        ++full;
        break;
      }
      list = next;
      for (auto i = a; i < b; ++i) model[i] = random_map(kind, model[i]);
      ASSERT_TRUE(list.well_formed(kSize));
      ASSERT_EQ(expand([&](auto visit) { list.for_each(0, kSize, kSize, visit); }), model);
    }
  }
  EXPECT_GT(full, 100);
}

TEST(RunList, RefusesWhatPushCouldNotHaveBuilt) {
  RunList list;
  EXPECT_FALSE(list.well_formed(kSize));
  const std::uint32_t not_from_zero[] = {4 << 2 | 1};
  list.set_entries(1, not_from_zero);
  EXPECT_FALSE(list.well_formed(kSize));
  const std::uint32_t backwards[] = {0 << 2 | 1, 9 << 2 | 2, 9 << 2 | 1};
  list.set_entries(3, backwards);
  EXPECT_FALSE(list.well_formed(kSize));
  const std::uint32_t beyond[] = {0 << 2 | 1, kSize << 2 | 2};
  list.set_entries(2, beyond);
  EXPECT_FALSE(list.well_formed(kSize));
}

TEST(ByteMap, AgreesWithAnArrayAndKeepsItsSum) {
  std::mt19937 random(12);
  std::vector<std::uint64_t> words(kSize / ByteMap::kBytesPerWord);
  ByteMap map(words.data());
  Model model(kSize, ByteState::kInvalid);
  std::uint64_t sum = 0;
  for (int step = 0; step < 5000; ++step) {
    const auto a = static_cast<std::uint32_t>(random() % kSize);
    const auto b = a + static_cast<std::uint32_t>(random() % (kSize - a + 1));
    const auto kind = static_cast<unsigned>(random() % 6);
    sum += map.rewrite(a, b, [&](ByteState s) { return random_map(kind, s); });
    for (auto i = a; i < b; ++i) model[i] = random_map(kind, model[i]);
    ASSERT_EQ(sum, map.sum(kSize));
    ASSERT_EQ(expand([&](auto visit) { map.for_each(0, kSize, visit); }), model);
  }
}

}  // namespace
}  // namespace forebay
