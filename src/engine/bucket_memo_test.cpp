#include "engine/bucket_memo.hpp"

#include <gtest/gtest.h>

#include <random>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

TEST(BucketMemo, RemembersTheLastBlockOfEachPlace) {
  BucketMemo memo;
  EXPECT_FALSE(memo.guess(3));
  memo.note(3, 0);
  EXPECT_EQ(memo.guess(3), 0u);
  memo.note(3 + BucketMemo::kPlaces, 7);
  EXPECT_EQ(memo.guess(3), 7u);
}

// Blocks outnumber the buckets, so that each guess is wrong sooner or later.
TEST(BucketMemo, ABucketThatHasAnotherBlockByNowIsNotServed) {
  TestBuffer test("readahead.max=0 admission.read=always");
  constexpr std::uint64_t kBlocks = 200;
  std::string content;
  for (std::uint64_t i = 0; i < kBlocks; ++i) content += std::string(4096, static_cast<char>('a' + i % 26));
  std::ofstream(test.home("a")) << content;
  auto file = test.open(test.home("a"), O_RDWR);
  std::mt19937 chance(3);
  for (int i = 0; i < 3000; ++i) {
    // Near ones often, so that there are hits, too.
    const auto block = chance() % (i % 2 == 0 ? 8 : kBlocks);
    std::string text(64, '?');
    ASSERT_EQ(file->read(block * 4096 + 100, writable_bytes_of(text)), text.size());
    ASSERT_EQ(text, std::string(64, static_cast<char>('a' + block % 26))) << "block " << block;
  }
  EXPECT_GT(test->core().counters().evictions.load(), 0u);
  EXPECT_GT(test->core().counted(&Counters::hit_bytes), 0u);
}

TEST(BucketMemo, NotesAUseOnceForEachKibibyteAndTheFirstAtOnce) {
  BucketMemo memo;
  EXPECT_TRUE(memo.touch_is_due(64));
  int noted = 0;
  for (int i = 0; i < 160; ++i) noted += memo.touch_is_due(64) ? 1 : 0;
  EXPECT_EQ(noted, 10);
  EXPECT_TRUE(memo.touch_is_due(4096));
  EXPECT_TRUE(memo.touch_is_due(4096));
}

}  // namespace
}  // namespace forebay
