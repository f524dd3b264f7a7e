#include "config/cache_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.hpp"
#include "config/load.hpp"
#include "config/resolve.hpp"

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Result<Settings> read(std::string_view text) {
  Settings settings;
  FOREBAY_TRY(read_cache_config(text, "cache_1.cfg", "/work", settings));
  return settings;
}

std::string error_of(std::string_view text) {
  const auto settings = read(text);
  return settings ? "" : settings.error().message;
}

TEST(CacheConfig, IsToldByItsFirstKey) {
  EXPECT_TRUE(is_cache_config("HDF5_CACHE_STORAGE_SIZE: 1"));
  EXPECT_TRUE(is_cache_config("\n#contents of conf.dat\n  HDF5_CACHE_STORAGE_SCOPE LOCAL\n"));
  EXPECT_TRUE(is_cache_config("HDF5_LOCAL_STORAGE_PATH /local/scratch"));
  EXPECT_FALSE(is_cache_config(""));
  EXPECT_FALSE(is_cache_config("mode: sync\n# HDF5_CACHE_STORAGE_SIZE: 1\n"));
  EXPECT_FALSE(is_cache_config("mode: sync\nHDF5_CACHE_STORAGE_SIZE: 1\n"));
}

TEST(CacheConfig, IsReadWithColonsAndWithout) {
  for (const char* text : {"HDF5_CACHE_STORAGE_SCOPE: LOCAL # the scope of the storage\n"
                           "HDF5_CACHE_STORAGE_PATH: /local/scratch # where\n"
                           "HDF5_CACHE_STORAGE_SIZE: 128188383838 # capacity\n"
                           "HDF5_CACHE_WRITE_BUFFER_SIZE: 2147483648\n"
                           "HDF5_CACHE_STORAGE_TYPE: SSD\n"
                           "HDF5_CACHE_REPLACEMENT_POLICY: LFU # [LRU|LFU|FIFO|LIFO]\n"
                           "HDF5_CACHE_FUSION_THRESHOLD: 16777216",
                           "HDF5_CACHE_STORAGE_SCOPE LOCAL\n"
                           "HDF5_LOCAL_STORAGE_PATH\t/local/scratch/\r\n"
                           "HDF5_LOCAL_STORAGE_SIZE 128188383838 # capacity\n"
                           "\n"
                           "HDF5_CACHE_REPLACEMENT_POLICY LFU\n"
                           "HDF5_CACHE_FUSION_THRESHOLD  1.6777216e7\n"}) {
    const auto settings = read(text);
    ASSERT_TRUE(settings) << settings.error().message;
    ASSERT_EQ(settings->tiers.size(), 2U);
    EXPECT_EQ(settings->tiers[0].kind, TierKind::Memory);
    EXPECT_TRUE(settings->tiers[0].size.is_auto());
    EXPECT_EQ(settings->tiers[1].kind, TierKind::Nvme);
    EXPECT_EQ(settings->tiers[1].path, "/local/scratch");
    EXPECT_EQ(settings->tiers[1].size, Amount::of_bytes(128'188'383'838));
    EXPECT_TRUE(settings->tiers[1].at_most);
    EXPECT_EQ(settings->file_defaults.eviction, Eviction::Lfu);
    EXPECT_EQ(settings->drain.write_size, 16 * kMiB);
    EXPECT_THAT(settings->remarks, IsEmpty());
    EXPECT_TRUE(settings->buffer.name.starts_with("cache_ext-"));
  }
}

TEST(CacheConfig, MemoryNeedsNoPath) {
  const auto settings = read(
      "HDF5_CACHE_STORAGE_TYPE: MEMORY\nHDF5_CACHE_STORAGE_PATH: NULL\nHDF5_CACHE_STORAGE_SIZE: 1000000000");
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(settings->tiers.size(), 1U);
  EXPECT_EQ(settings->tiers[0].kind, TierKind::Memory);
  EXPECT_EQ(settings->tiers[0].path, "/dev/shm");
  EXPECT_EQ(settings->tiers[0].size, Amount::of_bytes(1'000'000'000));
}

TEST(CacheConfig, GlobalIsASharedTierAndItsPathMayBeRelative) {
  const auto settings = read(
      "HDF5_CACHE_STORAGE_TYPE: BURST_BUFFER\nHDF5_CACHE_STORAGE_SCOPE: GLOBAL\nHDF5_CACHE_STORAGE_PATH: "
      "./bb/");
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(settings->tiers.size(), 2U);
  EXPECT_EQ(settings->tiers[1].kind, TierKind::Shared);
  EXPECT_EQ(settings->tiers[1].path, "/work/bb");
}

TEST(CacheConfig, CachesGoWithTheirFiles) {
  EXPECT_EQ(read("HDF5_CACHE_STORAGE_TYPE: MEMORY")->file_defaults.after_close, AfterClose::Drop);
}

TEST(CacheConfig, OneBufferForOneStorage) {
  const auto name = [](const char* path) {
    return read(format_text("HDF5_CACHE_STORAGE_PATH: {}", path))->buffer.name;
  };
  EXPECT_EQ(name("/local/a"), name("/local/a"));
  EXPECT_NE(name("/local/a"), name("/local/b"));
}

TEST(CacheConfig, WhatIsTakenOtherwiseIsSaid) {
  const auto settings = read(
      "HDF5_CACHE_STORAGE_TYPE: GPU\nHDF5_CACHE_REPLACEMENT_POLICY: LIFO\nHDF5_CACHE_STORAGE_COLOUR: blue\n"
      "HDF5_CACHE_FUSION_THRESHOLD: 1\n");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->file_defaults.eviction, Eviction::Lru);
  EXPECT_EQ(settings->drain.write_size, 64 * kKiB);
  EXPECT_THAT(
      settings->remarks,
      ElementsAre("cache_1.cfg:2: HDF5_CACHE_REPLACEMENT_POLICY: LIFO is taken as LRU",
                  "cache_1.cfg:3: HDF5_CACHE_STORAGE_COLOUR: is not a key of the Cache VOL, and left out",
                  "cache_1.cfg: HDF5_CACHE_STORAGE_TYPE: GPU is taken as MEMORY"));
}

TEST(CacheConfig, WhatTheCacheVolPassesOverIsPassedOver) {
  const auto settings = read(
      "HDF5_CACHE_STORAGE_SIZE:\nmode: sync\nHDF5_CACHE_REPLACEMENT_POLICY: MRU\nHDF5_CACHE_STORAGE_TYPE: "
      "SSD");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->file_defaults.eviction, Eviction::Lru);
  EXPECT_EQ(settings->tiers.back().kind, TierKind::Nvme);
  EXPECT_THAT(settings->remarks,
              ElementsAre("cache_1.cfg:1: HDF5_CACHE_STORAGE_SIZE: has no value, and left out",
                          "cache_1.cfg:2: mode: is not a key of the Cache VOL, and left out",
                          "cache_1.cfg:3: HDF5_CACHE_REPLACEMENT_POLICY: \"MRU\" is not LRU, LFU, FIFO or "
                          "LIFO, and left out"));
}

TEST(CacheConfig, WithoutAPathItIsTheDirectory) {
  const auto beside = read("HDF5_CACHE_STORAGE_PATH: ./\nHDF5_CACHE_STORAGE_TYPE: SSD");
  for (const auto* const text : {"HDF5_CACHE_STORAGE_TYPE: SSD", "HDF5_CACHE_STORAGE_SCOPE: GLOBAL"}) {
    const auto settings = read(text);
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->tiers.back().path, beside->tiers.back().path);
  }
}

TEST(CacheConfig, WhatIsWrongIsRefusedWithItsPlace) {
  EXPECT_EQ(error_of("HDF5_CACHE_STORAGE_TYPE: DISK"),
            "cache_1.cfg:1: HDF5_CACHE_STORAGE_TYPE: \"DISK\" is not SSD, BURST_BUFFER, MEMORY or GPU");
  EXPECT_EQ(error_of("\nHDF5_CACHE_STORAGE_SCOPE: NODE"),
            "cache_1.cfg:2: HDF5_CACHE_STORAGE_SCOPE: \"NODE\" is not LOCAL or GLOBAL");
  EXPECT_EQ(error_of("HDF5_CACHE_STORAGE_SIZE: much"),
            "cache_1.cfg:1: HDF5_CACHE_STORAGE_SIZE: \"much\" is not a number of bytes");
  EXPECT_EQ(error_of("HDF5_CACHE_STORAGE_SIZE: -5"),
            "cache_1.cfg:1: HDF5_CACHE_STORAGE_SIZE: \"-5\" is not a number of bytes");
  EXPECT_EQ(error_of("HDF5_CACHE_STORAGE_SIZE: nan"),
            "cache_1.cfg:1: HDF5_CACHE_STORAGE_SIZE: \"nan\" is not a number of bytes");
  EXPECT_EQ(error_of("HDF5_CACHE_STORAGE_SIZE: 5\nHDF5_CACHE_STORAGE_PATH: NULL"),
            "cache_1.cfg: HDF5_CACHE_STORAGE_PATH: is needed with HDF5_CACHE_STORAGE_TYPE SSD");
  EXPECT_EQ(
      error_of("HDF5_CACHE_STORAGE_SIZE: 5\nHDF5_CACHE_WRITE_BUFFER_SIZE: 6\nHDF5_CACHE_STORAGE_PATH: /a"),
      "cache_1.cfg:1: HDF5_CACHE_STORAGE_SIZE: 5 is less than HDF5_CACHE_WRITE_BUFFER_SIZE, which is 6");
}

TEST(CacheConfig, LoadsLikeAnyOther) {
  const auto settings = load_text("HDF5_CACHE_STORAGE_PATH: /tmp\nHDF5_CACHE_STORAGE_SIZE: 1e9\n", "c.cfg");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->tiers.back().path, "/tmp");
}

TEST(CacheConfig, ALargerSizeThanThereIsIsCutDown) {
  auto settings = read("HDF5_CACHE_STORAGE_TYPE: MEMORY\nHDF5_CACHE_STORAGE_SIZE: 1e17");
  ASSERT_TRUE(settings);
  const auto resolved = resolve(*settings);
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_LT(resolved->tiers[0].size.bytes, 100'000'000'000'000U);
  EXPECT_GT(resolved->tiers[0].size.bytes, 0U);
}

TEST(CacheVariables, OnlyYesSwitchesOn) {
  const auto none = read_cache_variables({});
  EXPECT_FALSE(none.write);
  EXPECT_FALSE(none.read);
  EXPECT_THAT(none.for_files, IsEmpty());
  EXPECT_THAT(none.for_everything, IsEmpty());
  const auto some = read_cache_variables(Environment({{"HDF5_CACHE_WR", "yes"},
                                                      {"HDF5_CACHE_RD", "YES"},
                                                      {"HDF5_CACHE_DELAY_CLOSE", "yes"},
                                                      {"HDF5_CACHE_LOG_LEVEL", "TRACE"},
                                                      {"DATASET_PREFETCH_AT_OPEN", "yes"}}));
  EXPECT_EQ(some.write, true);
  EXPECT_EQ(some.read, false);
  EXPECT_THAT(some.for_files, ElementsAre("on_close=detach", "prefetch.at_open=dataset"));
  EXPECT_THAT(some.for_everything, ElementsAre("log.level=debug"));
}

}  // namespace
}  // namespace forebay
