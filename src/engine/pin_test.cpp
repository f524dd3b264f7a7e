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

// They were opened for writing only, and refused for it.
TEST(Pin, OfAFileOpenedForWritingOnlyKeepsWhatIsWritten) {
  TestBuffer test("pin=true");
  auto file = test.open(test.home("a"), O_WRONLY | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of(std::string(8192, 'x'))), 8192u);
  EXPECT_EQ(pinned_buckets(*test), 2u);
  ASSERT_TRUE(file->pin(0, 4096));
  ASSERT_TRUE(file->close());
  EXPECT_EQ(pinned_buckets(*test), 0u);
}

TEST(Pin, OfAWholeFileHoldsForWhatComesLater) {
  TestBuffer test("pin=true readahead.max=0");
  std::ofstream(test.home("a")) << std::string(8192, 'x');
  auto file = test.open(test.home("a"), O_RDWR);
  ASSERT_TRUE(test.eventually([&] { return pinned_buckets(*test) == 2; }));
  ASSERT_EQ(file->write(8192, bytes_of(std::string(4096, 'y'))), 4096u);
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(pinned_buckets(*test), 3u);
  ASSERT_TRUE(file->unpin(0, ~std::uint64_t{0}));
  EXPECT_EQ(pinned_buckets(*test), 0u);
}

// It evicted its own first blocks for the sake of the last, and said that all were pinned.
TEST(Pin, OfMoreThanThereIsRoomForIsRefused) {
  TestBuffer test("readahead.max=0 pressure.wait=100ms");
  std::ofstream(test.home("a")) << std::string(32 * 4096, 'x');
  auto file = test.open(test.home("a"), O_RDONLY);
  ASSERT_TRUE(file->pin(0, 4096));
  const auto all = file->pin(0, ~std::uint64_t{0});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ENOSPC);
  EXPECT_EQ(pinned_buckets(*test), 1u);
  ASSERT_TRUE(file->pin(4096, 4096));
  EXPECT_EQ(pinned_buckets(*test), 2u);
}

TEST(Pin, OfARangeThatReachesBeyondTheLargestNumber) {
  TestBuffer test("readahead.max=0");
  std::ofstream(test.home("a")) << std::string(3 * 4096, 'x');
  auto file = test.open(test.home("a"), O_RDONLY);
  ASSERT_TRUE(file->pin(4096, ~std::uint64_t{0}));
  EXPECT_EQ(pinned_buckets(*test), 2u);
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

// The drain takes home's marks for its own, so that no later look found a difference.
TEST(HomeThatGrew, PastTheBufferIsSeenAfterADrain) {
  TestBuffer test("drain.trigger=never");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of("mine")), 4u);
  std::filesystem::resize_file(test.home("a"), 8192);
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(file->size(), 8192u);
  ASSERT_TRUE(file->close());
  EXPECT_EQ(TestBuffer::read_all(*test.open(test.home("a"), O_RDONLY)), "mine" + std::string(8188, '\0'));
}

// What is known between two pieces goes home with them, and what is not known was taken along: whatever lay
// in memory there.
TEST(Exclusive, OnlyWhatIsKnownBetweenPiecesGoesAlong) {
  TestBuffer test("readahead.max=0 drain.trigger=never");
  std::string expected(4096, 'x');
  std::ofstream(test.home("a")) << expected;
  auto file = test.open(test.home("a"), O_RDWR);
  ASSERT_TRUE(file->hint(Hint::kExclusive, 0, 0));
  std::string some(100, '?');
  ASSERT_EQ(file->read(100, writable_bytes_of(some)), 100u);
  for (const std::size_t at : {0u, 300u}) {
    ASSERT_EQ(file->write(at, bytes_of(std::string(100, 'n'))), 100u);
    expected.replace(at, 100, std::string(100, 'n'));
  }
  ASSERT_TRUE(file->sync());
  EXPECT_TRUE(TestBuffer::slurp(test.home("a")) == expected);
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
