// One process, one buffer: what a file seen through the engine looks like.
#include "engine/buffer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>

#include "engine/test_buffer.hpp"
#include "support/seed.hpp"

namespace forebay {
namespace {

// Equal, or where and how they differ: whole files make no readable message.
::testing::AssertionResult same(const std::string& found, const std::string& expected) {
  if (found == expected) return ::testing::AssertionSuccess();
  const auto [a, b] = std::ranges::mismatch(found, expected);
  const auto at = static_cast<std::size_t>(a - found.begin());
  std::size_t differ = 0;
  std::size_t last = at;
  for (std::size_t i = at; i < std::min(found.size(), expected.size()); ++i) {
    if (found[i] == expected[i]) continue;
    ++differ;
    last = i;
  }
  return ::testing::AssertionFailure()
         << found.size() << " bytes, expected " << expected.size() << "; " << differ << " differ, from " << at
         << " to " << last << "; found " << ::testing::PrintToString(found.substr(at, 8)) << ", expected "
         << ::testing::PrintToString(expected.substr(at, 8));
}

TEST(Buffer, OneByteGoesHome) {
  TestBuffer test;
  const auto path = test.home("a");
  {
    auto file = test.open(path, O_RDWR | O_CREAT);
    const std::byte x{42};
    ASSERT_EQ(file->write(5, {&x, 1}), 1u);
    EXPECT_EQ(file->size(), 6u);
    std::byte got{};
    ASSERT_EQ(file->read(5, {&got, 1}), 1u);
    EXPECT_EQ(got, x);
    ASSERT_EQ(file->read(0, {&got, 1}), 1u);
    EXPECT_EQ(got, std::byte{0});
    ASSERT_TRUE(file->close());
  }
  EXPECT_EQ(test.slurp(path), std::string("\0\0\0\0\0\x2a", 6));
}

TEST(Buffer, StagedBytesAreSeenBeforeTheyAreHome) {
  TestBuffer test("drain.trigger=never");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  const std::string text(30'000, 'q');
  ASSERT_EQ(file->write(3, bytes_of(text)), text.size());
  EXPECT_TRUE(test.slurp(path).empty());
  EXPECT_TRUE(same(test.read_all(*file), std::string(3, '\0') + text));
  ASSERT_TRUE(file->sync());
  EXPECT_TRUE(same(test.slurp(path), std::string(3, '\0') + text));
}

TEST(Buffer, TheDrainRunsByItself) {
  TestBuffer test;
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  const std::string text(300'000, 'q');
  ASSERT_EQ(file->write(0, bytes_of(text)), text.size());
  EXPECT_TRUE(test.eventually([&] { return test.slurp(path) == text; }));
}

TEST(Buffer, MoreThanTheTiersHoldStillArrives) {
  TestBuffer test;  // 16 buckets of 4 KiB in memory, 32 on disk
  const auto path = test.home("big");
  auto file = test.open(path, O_RDWR | O_CREAT);
  std::string expected(4'000'000, '\0');
  std::mt19937 random(5);
  for (auto& c : expected) c = static_cast<char>(random());
  for (std::size_t at = 0; at < expected.size(); at += 10'000) {
    ASSERT_EQ(file->write(at, bytes_of(expected).subspan(at, 10'000)), 10'000u);
  }
  EXPECT_TRUE(same(test.read_all(*file), expected));
  ASSERT_TRUE(file->close());
  EXPECT_TRUE(same(test.slurp(path), expected));
}

TEST(Buffer, ThousandsOfSingleBytesStayExact) {
  TestBuffer test("drain.trigger=never limits.fragment_memory=64KiB");
  const auto path = test.home("dots");
  std::string expected(20'000, '.');
  std::ofstream(path) << expected;
  auto file = test.open(path, O_RDWR);
  for (std::size_t i = 0; i < expected.size(); i += 2) {
    const std::byte x{'x'};
    ASSERT_EQ(file->write(i, {&x, 1}), 1u);
    expected[i] = 'x';
  }
  EXPECT_EQ(test.slurp(path), std::string(20'000, '.'));
  EXPECT_TRUE(same(test.read_all(*file), expected));
  // Somebody else writes the bytes between: they must survive our drain.
  for (std::size_t i = 1; i < expected.size(); i += 2) expected[i] = 'o';
  std::string theirs(20'000, '.');
  for (std::size_t i = 1; i < theirs.size(); i += 2) theirs[i] = 'o';
  std::fstream(path, std::ios::in | std::ios::out) << theirs;
  ASSERT_TRUE(file->close());
  EXPECT_TRUE(same(test.slurp(path), expected));
}

TEST(Buffer, RandomOperationsAgreeWithAPlainFile) {
  std::mt19937_64 random(testing::choose_seed("Buffer"));
  TestBuffer test("drain.delay=5ms");
  const auto path = test.home("model");
  std::string model;
  auto file = test.open(path, O_RDWR | O_CREAT);
  for (int step = 0; step < 3000; ++step) {
    const auto at = random() % 200'000;
    const auto length = random() % 10 == 0 ? random() % 30'000 : random() % 600;
    switch (random() % 12) {
      default: {
        std::string data(length, static_cast<char>(random()));
        for (auto& c : data) c = static_cast<char>(random());
        ASSERT_EQ(file->write(at, bytes_of(data)), length) << "step " << step;
        if (length == 0) break;
        if (model.size() < at + length) model.resize(at + length);
        model.replace(at, length, data);
        break;
      }
      case 0:
      case 1:
      case 2:
      case 3: {
        std::string got(length, '?');
        const auto n = file->read(at, writable_bytes_of(got));
        ASSERT_TRUE(n) << n.error().message;
        got.resize(*n);
        ASSERT_TRUE(same(got, at < model.size() ? model.substr(at, length) : "")) << "step " << step;
        break;
      }
      case 4:
        if (random() % 4 != 0) break;
        ASSERT_TRUE(file->truncate(at));
        model.resize(at);
        break;
      case 5:
        if (random() % 8 != 0) break;
        ASSERT_TRUE(file->sync());
        break;
      case 6:
        ASSERT_TRUE(file->evict(at, length));
        break;
      case 7:
        (void)file->prefetch(at, length).wait(std::chrono::seconds(5));
        break;
      case 8:
        if (random() % 20 != 0) break;
        ASSERT_TRUE(file->close());
        ASSERT_TRUE(same(test.slurp(path), model)) << "step " << step;
        file = test.open(path, O_RDWR);
        break;
    }
    ASSERT_EQ(file->size(), model.size()) << "step " << step;
  }
  ASSERT_TRUE(file->close());
  EXPECT_TRUE(same(test.slurp(path), model));
}

}  // namespace
}  // namespace forebay
