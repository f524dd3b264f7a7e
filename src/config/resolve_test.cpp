#include "config/resolve.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "config/load.hpp"

namespace forebay {
namespace {

using namespace std::chrono_literals;

// A machine of 64 GiB with the given directories.
Machine machine_with(std::map<std::string, Space> directories) {
  return {
      .memory = 64 * kGiB, .user = 1000, .space = [directories](const std::string& path) -> Result<Space> {
        const auto found = directories.find(path);
        if (found == directories.end()) return fail_errno(ENOENT, "use directory", path);
        return found->second;
      }};
}

const Space kShm{.free = 32 * kGiB, .in_memory = true};
const Space kDisk{.free = 100 * kGiB, .in_memory = false};

Result<Settings> resolve_text(std::string_view yaml, const Machine& machine,
                              const Environment& environment = {}) {
  FOREBAY_ASSIGN(Settings settings, load_text(yaml, "f.yaml"));
  return resolve(std::move(settings), environment, machine);
}

TEST(Resolve, DefaultsWithNothingConfigured) {
  const auto settings = resolve_text("", machine_with({{"/dev/shm", kShm}, {"/tmp", kDisk}}));
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->buffer.directory, "/dev/shm/forebay-1000");
  EXPECT_EQ(settings->profile.file, "/dev/shm/forebay-1000/profile.yaml");
  ASSERT_EQ(settings->tiers.size(), 2U);
  EXPECT_EQ(settings->tiers[0].kind, TierKind::Memory);
  EXPECT_EQ(settings->tiers[0].name, "memory");
  EXPECT_EQ(settings->tiers[0].size, Amount::of_bytes(16 * kGiB));
  EXPECT_EQ(settings->tiers[1].path, "/tmp");
  EXPECT_EQ(settings->tiers[1].size, Amount::of_bytes(16 * kGiB));
  EXPECT_EQ(settings->limits.fragment_memory, Amount::of_bytes(16 * kGiB / 20));
}

TEST(Resolve, AHomeBehindALinkHasTwoNames) {
  Machine machine = machine_with({{"/dev/shm", kShm}});
  machine.real_path = [](const std::string& path) { return path == "/scratch" ? "/lustre/1" : path; };
  const auto settings = resolve_text("homes: [/scratch, /work, /lustre/1]", machine);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->choice.homes, (std::vector<std::string>{"/scratch", "/work", "/lustre/1"}));
  const auto other = resolve_text("homes: /scratch", machine);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->choice.homes, (std::vector<std::string>{"/scratch", "/lustre/1"}));
}

TEST(Resolve, SmallMachineGetsSmallTiers) {
  Machine machine =
      machine_with({{"/dev/shm", {.free = 64 * kMiB, .in_memory = true}}, {"/tmp", {.free = 4 * kGiB}}});
  auto settings = resolve_text("", machine);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->tiers[0].size, Amount::of_bytes(32 * kMiB));
  EXPECT_EQ(settings->tiers[1].size, Amount::of_bytes(kGiB));
  machine.memory = 100 * kMiB;
  settings = resolve_text("", machine);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->tiers[0].size, Amount::of_bytes(25 * kMiB));
}

TEST(Resolve, SecondTierIsNotInMemoryToo) {
  const std::map<std::string, Space> directories{
      {"/dev/shm", kShm}, {"/tmp", kShm}, {"/var/tmp", kDisk}, {"/job", kDisk}};
  auto settings = resolve_text("", machine_with(directories));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->tiers[1].path, "/var/tmp");
  settings = resolve_text("", machine_with(directories), Environment({{"TMPDIR", "/job"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->tiers[1].path, "/job");
}

TEST(Resolve, DefaultTierThatCannotBeHadIsLeftOut) {
  auto settings = resolve_text("", machine_with({{"/dev/shm", kShm}, {"/tmp", {.free = kMiB}}}));
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->tiers.size(), 1U);
  EXPECT_EQ(settings->tiers[0].kind, TierKind::Memory);

  settings = resolve_text("", machine_with({{"/tmp", kDisk}}));
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->tiers.size(), 1U);
  EXPECT_EQ(settings->tiers[0].kind, TierKind::Nvme);
  EXPECT_EQ(settings->limits.fragment_memory, Amount::of_bytes(16 * kGiB / 20));

  settings = resolve_text("", machine_with({}));
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message,
            "tiers: none can be had by default: cannot use directory /dev/shm: No such file or directory");
}

TEST(Resolve, SharesAreOfTheFreeSpaceInWholeBuckets) {
  const auto settings =
      resolve_text("tiers: pmem:/p,shared:/s:10%",
                   machine_with({{"/p", {.free = 10 * kGiB + 123}}, {"/s", {.free = 1001 * kMiB}}}));
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->tiers[0].size, Amount::of_bytes(5 * kGiB));
  EXPECT_EQ(settings->tiers[1].size, Amount::of_bytes(100 * kMiB));
}

TEST(Resolve, ImpossibleTiersAreRefused) {
  const Machine machine = machine_with({{"/full", {.free = 4 * kMiB}}, {"/dev/shm", kShm}});
  auto settings = resolve_text("tiers:\n  - {kind: nvme, path: /none}\n", machine);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, ENOENT);
  EXPECT_EQ(settings.error().message,
            "f.yaml:2: tiers[0]: cannot use directory /none: No such file or directory");

  settings = resolve_text("tiers: nvme:/full", machine);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, ENOSPC);
  EXPECT_EQ(settings.error().message,
            "f.yaml:1: tiers[0]: auto of the 4.0MiB free in /full is less than 8 buckets of 256KiB");

  settings = resolve_text("durability: node", machine);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message,
            "f.yaml:1: durability: durability node needs a pmem or nvme tier, and there is only memory");
}

TEST(Resolve, GivenPathsStay) {
  const Settings settings = resolve_paths({.buffer = {.directory = "/d"}}, machine_with({}));
  EXPECT_EQ(settings.buffer.directory, "/d");
  EXPECT_EQ(settings.profile.file, "/d/profile.yaml");
}

TEST(Resolve, TakesFiguresOfTheProfile) {
  const std::string file = testing::TempDir() + "forebay-profile-test." + std::to_string(getpid());
  std::ofstream(file) << "tiers:\n  - {kind: memory, path: /dev/shm, bandwidth: 11GB/s, latency: 150ns}\n";
  const Machine machine = machine_with({{"/dev/shm", kShm}});
  const std::string yaml =
      "profile: {file: " + file + "}\ntiers:\n  - {kind: memory, path: /dev/shm, latency: 1us}\n";
  auto settings = resolve_text(yaml, machine);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->tiers[0].bandwidth, 11'000'000'000U);
  EXPECT_EQ(settings->tiers[0].latency, 1us);

  std::ofstream(file) << "damaged";
  settings = resolve_text(yaml, machine);
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->tiers[0].bandwidth);
  std::filesystem::remove(file);
}

TEST(Resolve, ThisMachineWorksWithNoConfiguration) {
  const auto settings = resolve({}, Environment{});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_GE(settings->tiers.size(), 1U);
}

TEST(Machine, NamesWhatIsWrongWithADirectory) {
  const Machine machine = Machine::current();
  EXPECT_GT(machine.memory, kMiB);
  EXPECT_EQ(machine.space("/nonexistent").error().code, ENOENT);
  EXPECT_EQ(machine.space("/proc/self/status").error().code, ENOTDIR);
  EXPECT_TRUE(machine.space(testing::TempDir()));
}

}  // namespace
}  // namespace forebay
