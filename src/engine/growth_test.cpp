// The bookkeeping of a buffer grows with what it holds (invariant G1).
#include <sys/stat.h>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kBlock = 4096;

std::uint64_t storage_of(const TestBuffer& buffer, const char* file) {
  struct stat found{};
  EXPECT_EQ(::stat((buffer.control_directory() + "/" + file).c_str(), &found), 0);
  return static_cast<std::uint64_t>(found.st_blocks) * 512;
}

TEST(Growth, DescriptorsHaveStorageWhenTheyAreUsed) {
  const TemporaryDirectory memory("/dev/shm");
  TestBuffer large("drain.trigger=never tiers=memory:" + memory.path() + ":16MiB");
  const auto& control = large->core().control;
  ASSERT_GT(control.header().bucket_count, 4096u);
  EXPECT_EQ(control.buckets_ready(), kFirstBuckets);
  const auto before = storage_of(large, kControlFile);
  EXPECT_LT(before, control.header().regions.end - 3000 * sizeof(Bucket));

  constexpr std::uint64_t kWritten = 1000;
  const auto file = large.open(large.home("a"), O_RDWR | O_CREAT);
  const std::string page(kBlock, 'x');
  for (std::uint64_t i = 0; i < kWritten; ++i) ASSERT_TRUE(file->write(i * kBlock, bytes_of(page)));
  EXPECT_GE(control.buckets_ready(), kWritten);
  EXPECT_LT(control.buckets_ready(), 2 * kWritten + kFirstBuckets);
  EXPECT_GT(storage_of(large, kControlFile), before);
  EXPECT_EQ(TestBuffer::read_all(*file), std::string(kWritten * kBlock, 'x'));
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(TestBuffer::slurp(large.home("a")), std::string(kWritten * kBlock, 'x'));
}

TEST(Growth, RecordsHaveStorageWhenTheyAreUsed) {
  TestBuffer buffer("buffer.max_files=64");
  const auto& control = buffer->core().control;
  EXPECT_EQ(control.files_ready(), kFirstFiles);
  std::vector<std::shared_ptr<File>> open;
  for (int i = 0; i < 64; ++i) {
    open.push_back(buffer.open(buffer.home(std::to_string(i)), O_RDWR | O_CREAT));
    ASSERT_TRUE(open.back()->write(0, bytes_of(std::to_string(i))));
  }
  EXPECT_EQ(control.files_ready(), 64u);
  const auto refused = buffer->open(buffer.home("one more"), O_RDWR | O_CREAT);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ENFILE);
  EXPECT_NE(refused.error().message.find("buffer.max_files"), std::string::npos) << refused.error().message;
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(TestBuffer::read_all(*open[static_cast<std::size_t>(i)]), std::to_string(i));
}

// Each file that was ever opened kept its place, and when all were taken no more could be opened for good.
TEST(Growth, LongPathsOfClosedFilesMakeWay) {
  TestBuffer buffer;
  const auto folder = buffer.home(std::string(200, 'd')) + "/" + std::string(200, 'e');
  std::filesystem::create_directories(folder);
  for (int i = 0; i < 20; ++i) {
    auto file = buffer->open(folder + "/" + std::to_string(i), O_RDWR | O_CREAT);
    ASSERT_TRUE(file) << i << ": " << file.error().message;
    ASSERT_TRUE((*file)->write(0, bytes_of(std::to_string(i))));
    ASSERT_TRUE((*file)->close());
  }
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(TestBuffer::slurp(folder + "/" + std::to_string(i)), std::to_string(i));
}

TEST(Growth, WhoAttachesLaterFindsWhatLiesBeyondTheFirst) {
  TestBuffer buffer("drain.trigger=never");
  constexpr int kFiles = 3 * static_cast<int>(kFirstFiles);
  std::vector<std::shared_ptr<File>> open;
  for (int i = 0; i < kFiles; ++i) {
    open.push_back(buffer.open(buffer.home(std::to_string(i)), O_RDWR | O_CREAT));
    ASSERT_TRUE(open.back()->write(0, bytes_of(std::string(kBlock, static_cast<char>('a' + i)))));
  }
  const auto other = Buffer::attach(buffer.settings(), {.background = false});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ((*other)->core().files.all().size(), static_cast<std::size_t>(kFiles));
  for (int i = 0; i < kFiles; ++i) {
    const auto seen = (*other)->open(buffer.home(std::to_string(i)), O_RDONLY);
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_EQ(TestBuffer::read_all(**seen), std::string(kBlock, static_cast<char>('a' + i)));
  }
}

}  // namespace
}  // namespace forebay
