// A buffer seen from outside, whole and damaged.
#include "engine/status.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <random>

#include "engine/test_buffer.hpp"
#include "support/seed.hpp"

namespace forebay {
namespace {

BufferStatus look(const TestBuffer& test) {
  auto status = look_at_buffer(test.settings());
  if (!status) throw std::runtime_error(status.error().message);
  return std::move(*status);
}

TEST(Status, SaysWhatIsUnsavedWhereAndWhose) {
  TestBuffer test("drain.trigger=never on_close=detach");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_TRUE(file->write(100, bytes_of(std::string(6000, 'x'))));
  const auto status = look(test);
  EXPECT_EQ(status.finding, ControlFinding::kUsable);
  ASSERT_EQ(status.files.size(), 1u);
  const auto& seen = status.files[0];
  EXPECT_EQ(seen.path, test.home("a"));
  EXPECT_EQ(seen.size, 6100u);
  EXPECT_EQ(seen.buffered, 6000u);
  EXPECT_EQ(seen.unsaved, 6000u);
  EXPECT_EQ(seen.by_tier, (std::vector<std::uint64_t>{6000, 0}));
  EXPECT_TRUE(seen.oldest_unsaved);
  EXPECT_TRUE(status.has_living_opener(seen));
  ASSERT_EQ(status.processes.size(), 1u);
  EXPECT_EQ(status.processes[0].pid, ::getpid());
  EXPECT_EQ(status.processes[0].open_files, 1u);
  EXPECT_EQ(status.tiers[0].used, 2u * 4096);
  EXPECT_EQ(status.tiers[0].unsaved, 6000u);
  EXPECT_EQ(status.totals->written_bytes, 6000u);
  EXPECT_EQ(status.totals->staged_bytes, 6000u);
}

TEST(Status, CountsAFragmentedBucketToTheByte) {
  TestBuffer test("drain.trigger=never");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(file->write(3 * i, bytes_of("x")));
  EXPECT_EQ(look(test).files.at(0).unsaved, 1000u);
}

TEST(Status, NoBufferIsNotMadeByLooking) {
  TestBuffer test("", false);
  const auto status = look_at_buffer(test.settings());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ENOENT);
  EXPECT_FALSE(std::filesystem::exists(test.memory("control")));
}

TEST(Status, ChangesNothing) {
  TestBuffer test("drain.trigger=never");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_TRUE(file->write(0, bytes_of(std::string(50'000, 'x'))));
  const auto bytes_of_file = [&](const char* name) {
    return test.slurp(test.control_directory() + "/" + name);
  };
  const auto blocks = [&](const char* name) {
    struct stat found{};
    EXPECT_EQ(::stat((test.control_directory() + "/" + name).c_str(), &found), 0);
    return found.st_blocks;
  };
  const auto before = bytes_of_file(kControlFile);
  const auto sparse = blocks(kSparseFile);
  (void)look(test);
  EXPECT_TRUE(before == bytes_of_file(kControlFile));
  EXPECT_EQ(sparse, blocks(kSparseFile));
}

TEST(Status, NamesTheBuffersOfADirectory) {
  TestBuffer test("buffer.name=two");
  EXPECT_EQ(buffer_names(test.settings()), std::vector<std::string>{"two"});
  std::filesystem::create_directory(test.memory("control/one"));
  std::filesystem::create_symlink("two", test.memory("control/three"));
  EXPECT_EQ(buffer_names(test.settings()), (std::vector<std::string>{"one", "two"}));
}

// Whatever lies there, looking at it ends, in figures or in words.
TEST(Status, SurvivesRandomDamage) {
  std::mt19937_64 random(testing::choose_seed("Status"));
  TestBuffer test("drain.trigger=never on_close=detach");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_TRUE(file->write(0, bytes_of(std::string(40'000, 'x'))));
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(file->write(50'000 + 2 * i, bytes_of("x")));
  const auto copy = test.memory("copy/default");
  std::filesystem::create_directories(copy);
  for (const auto& directory : {test.memory("copy"), copy}) ::chmod(directory.c_str(), 0700);
  auto settings = test.settings();
  settings.buffer.directory = test.memory("copy");
  const auto control = test.slurp(test.control_directory() + "/" + kControlFile);
  const auto sparse = test.slurp(test.control_directory() + "/" + kSparseFile);
  const auto put = [&](const char* name, const std::string& bytes) {
    std::ofstream(copy + "/" + name, std::ios::binary) << bytes;
    ::chmod((copy + "/" + name).c_str(), 0600);
  };
  for (int round = 0; round < 100; ++round) {
    auto damaged = control;
    auto damaged_sparse = sparse;
    // Most of the header's damage is found by its checksum: the records behind it are the interesting part.
    const std::size_t first = round % 4 == 0 ? 0 : sizeof(Header);
    for (int i = 0; i < 200; ++i)
      damaged[first + random() % (damaged.size() - first)] = static_cast<char>(random());
    for (int i = 0; i < 200; ++i)
      damaged_sparse[random() % damaged_sparse.size()] = static_cast<char>(random());
    if (round % 10 == 1) damaged.resize(random() % damaged.size());
    if (round % 10 == 2) damaged_sparse.resize(random() % damaged_sparse.size());
    put(kControlFile, damaged);
    put(kSparseFile, damaged_sparse);
    const auto status = look_at_buffer(settings);
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(status->finding == ControlFinding::kUsable, status->why.empty());
  }
}

}  // namespace
}  // namespace forebay
