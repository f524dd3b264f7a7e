#include "tools/forebay/bench/needs.hpp"

#include <gtest/gtest.h>

#include "tools/forebay/bench/keys.hpp"

namespace forebay {
namespace {

Workload workload(const std::string& kernel, unsigned ranks, const Texts& given) {
  Workload made{.name = "w", .kernel = kernel, .file = "f"};
  made.launch.ranks = ranks;
  made.ways.resize(2);
  const auto all = complete(kernel, given);
  EXPECT_TRUE(all) << all.error().message;
  if (all) made.configuration = *all;
  return made;
}

TEST(BenchNeeds, ParticlesTakeThirtyTwoBytes) {
  const auto one = workload("write", 4,
                            {{"TIMESTEPS", "5"},
                             {"NUM_DIMS", "2"},
                             {"DIM_1", "100"},
                             {"DIM_2", "10"},
                             {"DIM_3", "7"},
                             {"DELAYED_CLOSE_TIMESTEPS", "2"}});
  EXPECT_EQ(needs_of(one).home, 4u * 5 * 1000 * 32);
  EXPECT_EQ(needs_of(one).memory, 4u * 3 * 1000 * 32);
}

TEST(BenchNeeds, SamplesAreCountedForWhatIsDone) {
  const Texts given{{"record-length", "1000"},     {"num-files-train", "3"}, {"num-files-eval", "2"},
                    {"num-samples-per-file", "4"}, {"read-threads", "1"},    {"train", "true"}};
  EXPECT_EQ(needs_of(workload("dlio", 2, given)).home, 12'000u);
  auto both = given;
  both["evaluation"] = "true";
  EXPECT_EQ(needs_of(workload("dlio", 2, both)).home, 20'000u);
  EXPECT_EQ(needs_of(workload("dlio", 2, both)).memory, 4'000u);
}

TEST(BenchNeeds, WhatIsTooLargeIsSaidInASentence) {
  const auto one = workload("posix", 2, {{"size", "1 G"}, {"transfer", "1 M"}});
  EXPECT_TRUE(check_room(one, {.home = 8ull << 30, .memory = 1 << 30}));
  const auto home = check_room(one, {.home = 3ull << 30, .memory = 1 << 30});
  ASSERT_FALSE(home);
  EXPECT_EQ(home.error().message, "w: it leaves 2.0GiB at home in each of 2 ways, and home has 3.0GiB free");
  const auto memory = check_room(one, {.home = 8ull << 30, .memory = 1 << 20});
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().message, "w: its 2 ranks take 2.0MiB of memory at once, and 1.0MiB are free here");
}

TEST(BenchNeeds, FiguresBeyondEveryMachineDoNotWrapAround) {
  const auto one = workload("write", 4096, {{"TIMESTEPS", "1000000000"}, {"DIM_1", "1000000000000"}});
  EXPECT_FALSE(check_room(one, {.home = ~0ull, .memory = 1ull << 40}));
}

}  // namespace
}  // namespace forebay
