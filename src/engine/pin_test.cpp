// What is pinned stays, as long as somebody has its file open.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

unsigned pinned_buckets(Buffer& buffer) {
  const auto& control = buffer.core().control;
  unsigned pinned = 0;
  for (std::uint32_t i = 0; i < control.header().bucket_count; ++i) {
    const auto& bucket = control.bucket(i);
    pinned += bucket.key.load() != 0 && (bucket.flags.load() & kBucketPinned) != 0 ? 1 : 0;
  }
  return pinned;
}

TEST(Pin, AskingToEvictAPinnedRangeLeavesIt) {
  TestBuffer test("readahead.max=0");
  const auto path = test.home("a");
  std::ofstream(path) << std::string(8192, 'x');
  auto file = test.open(path, O_RDONLY);
  ASSERT_TRUE(file->pin(0, 4096));
  ASSERT_TRUE(file->evict(0, 8192));
  const auto before = test->core().counters().home_reads.load();
  std::string text(4096, '?');
  ASSERT_EQ(file->read(0, writable_bytes_of(text)), 4096u);
  EXPECT_EQ(text, std::string(4096, 'x'));
  EXPECT_EQ(test->core().counters().home_reads.load(), before);
}

TEST(Pin, EndsWithTheLastClose) {
  TestBuffer test("readahead.max=0");
  std::ofstream(test.home("a")) << std::string(8192, 'x');
  auto file = test.open(test.home("a"), O_RDONLY);
  ASSERT_TRUE(file->pin(0, 8192));
  EXPECT_EQ(pinned_buckets(*test), 2u);
  ASSERT_TRUE(file->close());
  EXPECT_EQ(pinned_buckets(*test), 0u);
}

// It would keep its room for good.
TEST(Pin, EndsWithTheDeathOfTheLastWhoHasTheFileOpen) {
  TestBuffer test("readahead.max=0");
  std::ofstream(test.home("a")) << std::string(8192, 'x');
  const auto child = ::fork();
  if (child == 0) {
    auto buffer = Buffer::attach(test.settings());
    auto file = (*buffer)->open(test.home("a"), O_RDONLY);
    if (!(*file)->pin(0, 8192)) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  test->recover();
  EXPECT_EQ(pinned_buckets(*test), 0u);
}

// Or what the next user of the file did not promise would be taken for promised.
TEST(Exclusive, IsPromisedUntilTheLastClose) {
  TestBuffer test;
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  const auto number = file->number();
  ASSERT_TRUE(file->hint(Hint::kExclusive, 0, 0));
  ASSERT_NE(test->core().control.file(number).flags.load() & kFileExclusive, 0u);
  ASSERT_TRUE(file->close());
  EXPECT_EQ(test->core().control.file(number).flags.load() & kFileExclusive, 0u);
}

}  // namespace
}  // namespace forebay
