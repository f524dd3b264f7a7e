// The two settings that are lists: tiers and the rules for files.
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace forebay {
namespace {

using namespace std::chrono_literals;

std::string list_error(std::string_view yaml) {
  const auto settings = load_text(yaml, "f.yaml");
  return settings ? "no error" : settings.error().message;
}

Settings must_load(std::string_view yaml, const Environment& environment = {}) {
  auto settings = load_text(yaml, "f.yaml", environment);
  EXPECT_TRUE(settings) << settings.error().message;
  return settings.value_or(Settings{});
}

TEST(Tiers, FromAList) {
  const Settings settings = must_load(R"(
tiers:
  - {kind: memory, path: /dev/shm/, size: 1GiB, bandwidth: 10GB/s, latency: 200ns}
  - kind: nvme
    path: /local/${JOB}/../x
    size: 12.5%
  - {kind: nvme, path: "${NOT_SET:-/tmp}"}
  - {kind: shared, path: /bb, name: burst}
)",
                                      Environment({{"JOB", "17"}}));
  ASSERT_EQ(settings.tiers.size(), 4U);
  EXPECT_EQ(settings.tiers[0].path, "/dev/shm");
  EXPECT_EQ(settings.tiers[0].size, Amount::of_bytes(kGiB));
  EXPECT_EQ(settings.tiers[0].bandwidth, 10'000'000'000U);
  EXPECT_EQ(settings.tiers[0].latency, 200ns);
  EXPECT_EQ(settings.tiers[0].name, "memory");
  EXPECT_EQ(settings.tiers[1].kind, TierKind::Nvme);
  EXPECT_EQ(settings.tiers[1].path, "/local/x");
  EXPECT_EQ(settings.tiers[1].size, Amount::of_percent(12.5));
  EXPECT_EQ(settings.tiers[1].name, "nvme");
  EXPECT_EQ(settings.tiers[1].origin, "f.yaml:4");
  EXPECT_EQ(settings.tiers[2].path, "/tmp");
  EXPECT_TRUE(settings.tiers[2].size.is_auto());
  EXPECT_EQ(settings.tiers[2].name, "nvme2");
  EXPECT_EQ(settings.tiers[3].name, "burst");
}

TEST(Tiers, FromTheEnvironment) {
  for (const char* text :
       {"memory:/dev/shm:1GiB,nvme:/nvme:10GiB", "memory:/dev/shm:1GiB , nvme:${X:-/nvme}:10GiB",
        "[{kind: memory, path: /dev/shm, size: 1GiB}, {kind: nvme, path: /nvme, size: 10GiB}]"}) {
    const auto settings = load({}, Environment({{"FOREBAY_TIERS", text}}));
    ASSERT_TRUE(settings) << settings.error().message;
    ASSERT_EQ(settings->tiers.size(), 2U);
    EXPECT_EQ(settings->tiers[1].kind, TierKind::Nvme);
    EXPECT_EQ(settings->tiers[1].path, "/nvme");
    EXPECT_EQ(settings->tiers[1].size, Amount::of_bytes(10 * kGiB));
  }
}

TEST(Tiers, LaterSourceReplacesTheWholeList) {
  const auto settings =
      load({.overrides = {"tiers=nvme:/b"}}, Environment({{"FOREBAY_TIERS", "memory:/a,nvme:/a"}}));
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->tiers.size(), 1U);
  EXPECT_EQ(settings->tiers[0].path, "/b");
}

TEST(Tiers, ImpossibleOnesAreRefused) {
  const std::string forms =
      "tiers are a list of entries {kind: ..., path: ..., size: ...}, or a text "
      "kind:path:size,kind:path:size";
  EXPECT_EQ(list_error("tiers:\n"), "f.yaml:1: tiers: " + forms);
  EXPECT_EQ(list_error("tiers: []\n"), "f.yaml:1: tiers: " + forms);
  EXPECT_EQ(list_error("tiers: {kind: memory}\n"), "f.yaml:1: tiers: " + forms);
  EXPECT_EQ(list_error("tiers:\n  - memory\n"), "f.yaml:2: tiers[0]: " + forms);
  EXPECT_EQ(list_error("tiers:\n  - {path: /a}\n"),
            "f.yaml:2: tiers[0]: has no kind: memory, pmem, nvme or shared");
  EXPECT_EQ(list_error("tiers:\n  - {kind: memory}\n"), "f.yaml:2: tiers[0]: has no path");
  EXPECT_EQ(list_error("tiers:\n  - kind: memory\n    path: shm\n"),
            "f.yaml:3: tiers[0].path: \"shm\" is not an absolute path");
  EXPECT_EQ(list_error("tiers:\n  - kind: ram\n    path: /a\n"),
            "f.yaml:2: tiers[0].kind: \"ram\" is not memory, pmem, nvme or shared");
  EXPECT_EQ(list_error("tiers:\n  - {kind: memory, path: /a, size: 0}\n"),
            "f.yaml:2: tiers[0].size: \"0\" is not a size of at least 32KiB, a share such as 25%, or auto");
  EXPECT_EQ(list_error("tiers:\n  - {kind: memory, path: /a, size: 1MiB}\n"),
            "f.yaml:2: tiers[0].size: \"1MiB\" is less than 8 buckets of 256KiB (2MiB)");
  EXPECT_EQ(list_error("tiers:\n  - {kind: memory, path: /a, sise: 1GiB}\n"),
            "f.yaml:2: tiers[0].sise: unknown key, not kind, path, size, name, bandwidth or latency; did you "
            "mean size?");
  EXPECT_EQ(list_error("tiers:\n  - {kind: memory, path: [a]}\n"),
            "f.yaml:2: tiers[0].path: needs one value");
  EXPECT_EQ(list_error("tiers:\n  - {kind: nvme, path: /a}\n  - {kind: nvme, path: /a/.}\n"),
            "f.yaml:3: tiers[1]: nvme at /a is tiers[0] already");
  EXPECT_EQ(list_error("tiers:\n  - {kind: nvme, path: /a, name: x}\n  - {kind: nvme, path: /b, name: x}\n"),
            "f.yaml:3: tiers[1].name: \"x\" is the name of tiers[0] already");
  EXPECT_EQ(list_error("tiers: nvme:/1,nvme:/2,nvme:/3,nvme:/4,nvme:/5,nvme:/6,nvme:/7,nvme:/8,nvme:/9\n"),
            "f.yaml:1: tiers: 9 tiers are more than the 8 allowed");
  EXPECT_EQ(
      list_error("tiers: memory:/a:lots\n"),
      "f.yaml:1: tiers[0].size: \"lots\" is not a size of at least 32KiB, a share such as 25%, or auto");
  EXPECT_EQ(list_error("tiers: 'memory:/a,'\n"),
            "f.yaml:1: tiers[1]: \"\" is not kind:path or kind:path:size");
}

TEST(Tiers, SmallBucketsAllowSmallTiers) {
  EXPECT_EQ(list_error("buffer: {bucket_size: 4KiB}\ntiers: memory:/a:32KiB\n"), "no error");
}

TEST(Rules, FirstThatMatchesAndGivesASettingWins) {
  const Settings settings = must_load(R"(
on_close: detach
files:
  - match: "*.tmp"
    mode: scratch
  - match: [/scratch/**/ck-*.h5, "*.ckpt"]
    mode: sync
    reserve: {size: 2GiB, kind: hard}
  - match: /scratch/**
    mode: bypass
    drain.trigger: close
    on_close: home
)");
  const FileSettings checkpoint = settings.for_path("/scratch/run/ck-1.h5");
  EXPECT_EQ(checkpoint.mode, Mode::Sync);
  EXPECT_EQ(checkpoint.reserve_size, 2 * kGiB);
  EXPECT_EQ(checkpoint.reserve_kind, ReserveKind::Hard);
  EXPECT_EQ(checkpoint.drain_trigger, DrainTrigger::Close);
  EXPECT_EQ(checkpoint.on_close, OnClose::Home);

  EXPECT_EQ(settings.for_path("/scratch/x.tmp").mode, Mode::Scratch);
  EXPECT_EQ(settings.for_path("/scratch/x").mode, Mode::Bypass);

  const FileSettings elsewhere = settings.for_path("/home/x.ckpt");
  EXPECT_EQ(elsewhere.mode, Mode::Sync);
  EXPECT_EQ(elsewhere.on_close, OnClose::Detach);
  EXPECT_EQ(settings.for_path("/home/x"), settings.file_defaults);
}

TEST(Rules, ReadAheadNeverBeginsAboveItsMaximum) {
  const Settings settings =
      must_load("files: [{match: '*.a', readahead.max: 64KiB}, {match: '*.b', readahead.max: 0}]");
  EXPECT_EQ(settings.for_path("/x.a").readahead_min, 64 * kKiB);
  EXPECT_EQ(settings.for_path("/x.b").readahead_min, 0U);
  EXPECT_EQ(settings.for_path("/x.c").readahead_min, 256 * kKiB);
}

TEST(Rules, FromTheEnvironmentWithVariables) {
  const auto settings =
      load({}, Environment({{"FOREBAY_FILES", "[{match: '${DATA}/**', mode: sync}]"}, {"DATA", "/d"}}));
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->for_path("/d/x/y").mode, Mode::Sync);
}

TEST(Rules, BadOnesAreRefused) {
  const std::string forms = "files is a list of entries {match: PATTERN, SETTING: VALUE, ...}";
  EXPECT_EQ(list_error("files: x\n"), "f.yaml:1: files: " + forms);
  EXPECT_EQ(list_error("files:\n  - x\n"), "f.yaml:2: files[0]: " + forms);
  EXPECT_EQ(list_error("files:\n  - {mode: sync}\n"),
            "f.yaml:2: files[0]: has no match: the files it is for");
  EXPECT_EQ(list_error("files:\n  - {match: x}\n"),
            "f.yaml:2: files[0]: sets nothing for the files it matches");
  EXPECT_EQ(list_error("files:\n  - match: x\n    mood: sync\n"),
            "f.yaml:3: files[0]: mood: unknown setting; did you mean mode?");
  EXPECT_EQ(list_error("files:\n  - match: x\n    buffer: {name: y}\n"),
            "f.yaml:3: files[0]: buffer.name: is not a setting of single files");
  EXPECT_EQ(list_error("files:\n  - match: x\n    mode: fast\n"),
            "f.yaml:3: files[0].mode: \"fast\" is not async, sync, scratch or bypass");
  EXPECT_EQ(list_error("files:\n  - match: x\n    mode: [sync]\n"),
            "f.yaml:3: files[0].mode: needs one value: async, sync, scratch or bypass");
  EXPECT_EQ(list_error("files:\n  - match: []\n    mode: sync\n"),
            "f.yaml:2: files[0]: has no match: the files it is for");
  EXPECT_EQ(
      list_error("files:\n  - match: ['']\n    mode: sync\n"),
      "f.yaml:2: files[0].match: needs a pattern, or a list of patterns, such as \"*.h5\" or /scratch/**");
  EXPECT_EQ(list_error("files:\n  - match: a/b\n    mode: sync\n"),
            "f.yaml:2: files[0].match: \"a/b\" can never match: a pattern with '/' begins with '/' or **");
  EXPECT_EQ(list_error("files:\n  - match: x\n    reserve.size: 1\n    reserve: {size: 2}\n"),
            "f.yaml:4: files[0].reserve.size: given before in this rule");
}

TEST(FileOverrides, ComeOnTopOfTheRules) {
  const Settings settings = must_load("files: [{match: '*.h5', mode: sync, pin: true}]");
  const std::vector<std::string> overrides{"mode=scratch", "reserve.size=1MiB"};
  const auto file = load_file_settings(settings, "/a.h5", overrides, "MPI_Info");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->mode, Mode::Scratch);
  EXPECT_EQ(file->reserve_size, kMiB);
  EXPECT_TRUE(file->pin);
}

TEST(FileOverrides, BadOnesAreRefused) {
  const Settings settings = must_load("tiers: memory:/dev/shm");
  const auto refuse = [&](std::string text) {
    const auto file = load_file_settings(settings, "/a.h5", std::vector{std::move(text)}, "MPI_Info");
    return file ? "no error" : file.error().message;
  };
  EXPECT_EQ(refuse("buffer.name=x"), "MPI_Info: buffer.name: is not a setting of single files");
  EXPECT_EQ(refuse("on_clos=home"), "MPI_Info: on_clos: unknown setting; did you mean on_close?");
  EXPECT_EQ(refuse("pin=7"), "MPI_Info: pin: \"7\" is not true or false");
  EXPECT_EQ(refuse("durability=node"),
            "MPI_Info: /a.h5: durability node needs a pmem or nvme tier, and there is only memory");
}

}  // namespace
}  // namespace forebay
