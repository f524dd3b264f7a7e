#include "tools/forebay/bench/keys.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

Texts completed(const std::string& kernel, const Texts& given) {
  const auto all = complete(kernel, given);
  EXPECT_TRUE(all) << all.error().message;
  return all ? *all : Texts{};
}

Texts particles(Texts more) {
  more.insert({{"TIMESTEPS", "2"}, {"DIM_1", "1 K"}});
  return more;
}

// All that h5bench takes for a time.
TEST(BenchKeys, TimesAreAsH5benchReadsThem) {
  const auto seconds = [](const std::string& text) {
    const auto all = completed("write", particles({{"EMULATED_COMPUTE_TIME_PER_TIMESTEP", text}}));
    return all.empty() ? -1 : std::stod(all.at("EMULATED_COMPUTE_TIME_PER_TIMESTEP"));
  };
  EXPECT_EQ(seconds("2"), 2);
  EXPECT_EQ(seconds("0"), 0);
  EXPECT_EQ(seconds("2 s"), 2);
  EXPECT_EQ(seconds("2 S"), 2);
  EXPECT_EQ(seconds("2 sec"), 2);
  EXPECT_EQ(seconds("5 MS"), 0.005);
  EXPECT_EQ(seconds("5000us"), 0.005);
  EXPECT_EQ(seconds("3 M"), 180);
  EXPECT_EQ(seconds("3 min"), 180);
}

TEST(BenchKeys, CountsAreInPowersOf1024) {
  const auto count = [](const std::string& text) {
    return completed("write", {{"TIMESTEPS", "2"}, {"DIM_1", text}})["DIM_1"];
  };
  EXPECT_EQ(count("4096"), "4096");
  EXPECT_EQ(count("16 M"), "16777216");
  EXPECT_EQ(count("16M"), "16777216");
  EXPECT_EQ(count("2 k"), "2048");
  EXPECT_EQ(count("1024 Ks"), "1048576");
}

TEST(BenchKeys, WhatIsNoTimeOrCountIsRefusedByItsKey) {
  const auto why = [](const Texts& given) {
    const auto all = complete("write", given);
    return all ? "" : all.error().message;
  };
  EXPECT_EQ(why(particles({{"EMULATED_COMPUTE_TIME_PER_TIMESTEP", "soon"}})),
            "EMULATED_COMPUTE_TIME_PER_TIMESTEP: \"soon\" is not a time, as 1 s or 100 ms");
  EXPECT_EQ(why({{"TIMESTEPS", "2"}, {"DIM_1", "-4"}}), "DIM_1: \"-4\" is not a count, as 5 or 16 M");
}

TEST(BenchKeys, WhatIsNotSaidIsAsInH5bench) {
  const auto read =
      completed("read", particles({{"READ_OPTION", "PARTIAL"}, {"ENV_METADATA_FILE", "names"}}));
  EXPECT_EQ(read.at("TO_READ_NUM_PARTICLES"), "1024");
  EXPECT_EQ(read.at("COLLECTIVE_DATA"), "0");
  EXPECT_EQ(read.at("NUM_DIMS"), "1");
  EXPECT_EQ(completed("write", particles({{"COMPRESS", "YES"}})).at("COLLECTIVE_DATA"), "1");
}

}  // namespace
}  // namespace forebay
