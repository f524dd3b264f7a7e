// A file that names the only tier to use.
#include <gtest/gtest.h>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

constexpr std::size_t kBlock = 4096;

std::string text_of(int blocks) {
  std::string text;
  for (int i = 0; i < blocks; ++i) text += std::string(kBlock, static_cast<char>('a' + i));
  return text;
}

std::string name_of_nvme(TestBuffer& test) { return test->core().tiers[1].name; }

// How many of the file's buckets lie in a tier.
unsigned in_tier(Buffer& buffer, std::uint32_t file, std::uint32_t tier) {
  auto& core = buffer.core();
  unsigned count = 0;
  for (std::uint32_t i = 0; i < core.control.buckets_ready(); ++i) {
    const auto& bucket = core.control.bucket(i);
    const auto place = bucket.place.load();
    if (bucket.key.load() == 0 || key_file(bucket.key.load()) != file || place == 0) continue;
    if (core.tiers[tier].holds(place - 1)) ++count;
  }
  return count;
}

// It found no tier at all to be staged in, waited for room block by block, and went straight home.
TEST(OnlyTier, ThatIsNotMappedIsReachedByWayOfTheOthers) {
  TestBuffer test("drain.trigger=never tier=nvme on_close=detach");
  ASSERT_EQ(name_of_nvme(test), "nvme");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  const auto text = text_of(24);
  for (std::size_t at = 0; at < text.size(); at += kBlock)
    ASSERT_EQ(file->write(at, bytes_of(text.substr(at, kBlock))), kBlock);
  EXPECT_EQ(test->core().counters().straight_home_bytes.load(), 0u);
  EXPECT_TRUE(test.eventually([&] { return in_tier(*test, file->number(), 1) != 0; }));
  EXPECT_EQ(TestBuffer::read_all(*file), text);
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(TestBuffer::slurp(test.home("a")), text);
}

TEST(OnlyTier, ThatIsMappedIsNotLeft) {
  TestBuffer test("tier=memory readahead.max=0");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  const auto text = text_of(24);
  for (std::size_t at = 0; at < text.size(); at += kBlock) {
    ASSERT_EQ(file->write(at, bytes_of(text.substr(at, kBlock))), kBlock);
    EXPECT_EQ(in_tier(*test, file->number(), 1), 0u);
  }
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(in_tier(*test, file->number(), 1), 0u);
  EXPECT_EQ(TestBuffer::read_all(*file), text);
  EXPECT_EQ(TestBuffer::slurp(test.home("a")), text);
}

TEST(OnlyTier, ThatTheBufferHasNotIsRefused) {
  TestBuffer test;
  const auto file = test->open(test.home("a"), O_RDWR | O_CREAT, 0644,
                               [](FileSettings& settings) { settings.tier = "optane"; });
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, EINVAL);
  EXPECT_NE(file.error().message.find("optane"), std::string::npos) << file.error().message;
}

}  // namespace
}  // namespace forebay
