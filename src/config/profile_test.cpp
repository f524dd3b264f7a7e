#include "config/profile.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace forebay {
namespace {

using namespace std::chrono_literals;

std::string profile_error(std::string_view yaml) {
  const auto profile = parse_profile(yaml, "p.yaml");
  return profile ? "no error" : profile.error().message;
}

TEST(Profile, ReadsBackWhatItWrites) {
  Profile profile;
  profile.tiers.push_back(
      {{.path = "/dev/shm", .bandwidth = 11'234'567'890, .latency = 150ns}, TierKind::Memory});
  profile.tiers.push_back({{.path = "/a \"b\": {c}", .bandwidth = 1024, .latency = 2ms}, TierKind::Nvme});
  profile.homes.push_back({.path = "/home", .bandwidth = 100'000'000, .latency = 5ms});
  const auto read = parse_profile(format_profile(profile), "p.yaml");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->tiers.size(), 2U);
  EXPECT_EQ(read->tiers[0].bandwidth, 11'234'567'890U);
  EXPECT_EQ(read->tiers[0].latency, 150ns);
  EXPECT_EQ(read->tiers[1].kind, TierKind::Nvme);
  EXPECT_EQ(read->tiers[1].path, "/a \"b\": {c}");
  ASSERT_EQ(read->homes.size(), 1U);
  EXPECT_EQ(read->homes[0].latency, 5ms);
}

TEST(Profile, EmptyOneReadsBack) { EXPECT_TRUE(parse_profile(format_profile({}), "p.yaml")); }

TEST(Profile, RefusesOtherThings) {
  EXPECT_EQ(profile_error("hello"), "p.yaml:1: not a profile");
  EXPECT_EQ(profile_error("mode: sync"), "p.yaml:1: mode: unknown key");
  EXPECT_EQ(profile_error("tiers:\n  - {kind: memory, path: /a}"),
            "p.yaml:2: tiers: an entry needs path, bandwidth and latency");
  EXPECT_EQ(profile_error("homes:\n  - x"), "p.yaml:2: homes: an entry has keys and values");
  EXPECT_EQ(profile_error("homes:\n  - {path: x}"), "p.yaml:2: homes.path: \"x\" is not an absolute path");
  EXPECT_EQ(profile_error("homes:\n  - {speed: 3}"), "p.yaml:2: homes.speed: unknown key");
}

TEST(Profile, NoneThereIsNotFound) { EXPECT_EQ(read_profile("/nonexistent/p.yaml").error().code, ENOENT); }

}  // namespace
}  // namespace forebay
