// RunList and ByteMap against a plain array of states.
#include <gtest/gtest.h>
#include <algorithm>

#include <random>
#include <vector>

#include "extent/byte_map.hpp"
#include "extent/run_list.hpp"

namespace forebay {
namespace {

constexpr std::uint32_t kSize = 1024;
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

// Random changes with boundaries at multiples of `step`, but for one in `odd_one_in`: how many until it does
// not fit.
int changes_until_full(std::mt19937& random, std::uint32_t step, unsigned odd_one_in, int most) {
  auto list = RunList::uniform(ByteState::kInvalid);
  Model model(kSize, ByteState::kInvalid);
  const auto boundary = [&] {
    const auto at = static_cast<std::uint32_t>(random() % (kSize + 1));
    return random() % odd_one_in == 0 ? at : at / step * step;
  };
  for (int i = 0; i < most; ++i) {
    const auto a = boundary();
    const auto b = std::max(a, std::min(boundary(), a + 12 * step));
    const auto kind = static_cast<unsigned>(random() % 6);
    RunList next;
    RunList::Packed packed;
    if (!list.rewrite(a, b, kSize, next, [&](ByteState s) { return random_map(kind, s); })) return i;
    if (!next.pack(kSize, Room::kWrite, packed)) return i;
    for (auto at = a; at < b; ++at) model[at] = random_map(kind, model[at]);
    EXPECT_TRUE(next.well_formed(kSize));
    list = RunList::unpack(packed, kSize);
    EXPECT_TRUE(list == next);
    EXPECT_EQ(expand([&](auto visit) { list.for_each(0, kSize, kSize, visit); }), model);
    // T1
    RunList cut;
    EXPECT_TRUE(list.rewrite(boundary(), kSize, kSize, cut, [](ByteState) { return ByteState::kInvalid; }));
    EXPECT_TRUE(cut.pack(kSize, Room::kAll, packed));
  }
  return most;
}

TEST(RunList, AgreesWithAnArrayUntilItIsFull) {
  std::mt19937 random(11);
  int full = 0;
  for (int round = 0; round < 300; ++round) full += changes_until_full(random, 1, 1, 60) < 60 ? 1 : 0;
  EXPECT_GT(full, 100);
}

TEST(RunList, GrainsInAnyOrderAlwaysFit) {
  std::mt19937 random(13);
  for (int round = 0; round < 30; ++round)
    EXPECT_EQ(changes_until_full(random, kSize / RunList::kGrains, 1u << 30, 300), 300);
}

TEST(RunList, GrainsWithAFewOddRunsAgreeWithAnArray) {
  std::mt19937 random(14);
  for (int round = 0; round < 300; ++round) changes_until_full(random, kSize / RunList::kGrains, 12, 300);
}

TEST(RunList, RefusesWhatPackCouldNotHaveMade) {
  const auto unpacked = [](unsigned count, std::initializer_list<std::uint32_t> words) {
    RunList::Packed packed{.count = count, .words = {}};
    std::ranges::copy(words, packed.words.begin());
    return RunList::unpack(packed, kSize);
  };
  EXPECT_FALSE(RunList{}.well_formed(kSize));
  EXPECT_FALSE(unpacked(1, {4 << 2 | 1}).well_formed(kSize));
  EXPECT_FALSE(unpacked(3, {0 << 2 | 1, 9 << 2 | 2, 9 << 2 | 1}).well_formed(kSize));
  EXPECT_FALSE(unpacked(2, {0 << 2 | 1, kSize << 2 | 2}).well_formed(kSize));
  // Odd runs that go backwards.
  EXPECT_FALSE(unpacked(0, {0, 0, 0, 0, 0, 0, 0, 0, 9 << 2 | 1, 5 << 2 | 2}).well_formed(kSize));
  // Nothing but zeros is a bucket that was never used.
  EXPECT_TRUE(unpacked(0, {}) == RunList::uniform(ByteState::kInvalid));
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
    ASSERT_EQ(map.any_unsaved(kSize), std::ranges::any_of(model, unsaved));
    ASSERT_EQ(map.all_unsaved(kSize), std::ranges::all_of(model, unsaved));
  }
}

TEST(ByteMap, KnowsTheLastByte) {
  std::vector<std::uint64_t> words(kSize / ByteMap::kBytesPerWord);
  ByteMap map(words.data());
  EXPECT_FALSE(map.any_unsaved(kSize));
  map.rewrite(kSize - 1, kSize, [](ByteState) { return ByteState::kDirty; });
  EXPECT_TRUE(map.any_unsaved(kSize));
  map.rewrite(0, kSize - 1, [](ByteState) { return ByteState::kClaimed; });
  EXPECT_TRUE(map.all_unsaved(kSize));
  map.rewrite(kSize - 1, kSize, [](ByteState) { return ByteState::kValid; });
  EXPECT_FALSE(map.all_unsaved(kSize));
}

}  // namespace
}  // namespace forebay
