#include "door/mpiio/transfer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "engine/test_buffer.hpp"

namespace forebay::mpiio {
namespace {

Memory memory_of(std::string& text, const FlatType& type, std::int64_t count) {
  return {.base = writable_bytes_of(text).data(), .type = &type, .count = count};
}

class MpiioTransfer : public ::testing::Test {
 protected:
  TestBuffer buffer_;
  std::shared_ptr<File> file_ = buffer_.open(buffer_.home("file"), O_RDWR | O_CREAT);
  const FlatType bytes_{.runs = {{0, 1}}, .size = 1, .extent = 1};
  const FlatType gaps_{.runs = {{0, 1}, {3, 2}}, .size = 3, .extent = 6};

  std::string whole() {
    std::string text(64, '?');
    const auto got = file_->read(0, writable_bytes_of(text));
    EXPECT_TRUE(got);
    text.resize(got.value_or(0));
    return text;
  }
};

TEST_F(MpiioTransfer, BytesGoAsTheyLie) {
  std::string text = "abcdef";
  EXPECT_TRUE(write(*file_, View{}, 2, memory_of(text, bytes_, 6)));
  EXPECT_EQ(whole(), std::string("\0\0abcdef", 8));
}

TEST_F(MpiioTransfer, MemoryWithGapsIsPacked) {
  std::string text = "a..bc.d..ef.";
  EXPECT_TRUE(write(*file_, View{}, 0, memory_of(text, gaps_, 2)));
  EXPECT_EQ(whole(), "abcdef");
}

TEST_F(MpiioTransfer, AFileTypeWithGapsSpreadsThem) {
  std::string text = "abcdef";
  EXPECT_TRUE(write(*file_, View(1, 1, gaps_), 0, memory_of(text, bytes_, 6)));
  EXPECT_EQ(whole(), std::string("\0a\0\0bc\0d\0\0ef", 12));
}

TEST_F(MpiioTransfer, WhatWasWrittenIsReadAndGapsInMemoryAreLeftAlone) {
  std::string text = "a..bc.d..ef.";
  EXPECT_TRUE(write(*file_, View(3, 1, gaps_), 0, memory_of(text, gaps_, 2)));
  std::string back(12, '-');
  EXPECT_EQ(read(*file_, View(3, 1, gaps_), 0, memory_of(back, gaps_, 2)).value_or(0), 6u);
  EXPECT_EQ(back, "a--bc-d--ef-");
}

TEST_F(MpiioTransfer, AReadAtTheEndTellsWhatCame) {
  std::string text = "abcd";
  EXPECT_TRUE(write(*file_, View{}, 0, memory_of(text, bytes_, 4)));
  std::string back(12, '-');
  EXPECT_EQ(read(*file_, View{}, 0, memory_of(back, gaps_, 2)).value_or(99), 4u);
  EXPECT_EQ(back, "a--bc-d-----");
}

TEST_F(MpiioTransfer, MoreThanIsPackedAtATime) {
  const FlatType every_other{.runs = {{0, 1}}, .size = 1, .extent = 2};
  constexpr std::int64_t kCount = (300 << 10) + 7;
  std::string text(2 * kCount, '.');
  for (std::size_t i = 0; i < kCount; ++i) text[2 * i] = static_cast<char>(i * 7 + i / 251);
  EXPECT_TRUE(write(*file_, View{}, 5, memory_of(text, every_other, kCount)));
  std::string back(text.size(), '.');
  EXPECT_EQ(read(*file_, View{}, 5, memory_of(back, every_other, kCount)).value_or(0), std::uint64_t{kCount});
  EXPECT_TRUE(back == text);
}

TEST_F(MpiioTransfer, NothingIsNothing) {
  std::string text;
  EXPECT_TRUE(write(*file_, View{}, 5, memory_of(text, bytes_, 0)));
  EXPECT_EQ(read(*file_, View{}, 5, memory_of(text, bytes_, 0)).value_or(99), 0u);
  EXPECT_EQ(file_->size().value_or(99), 0u);
}

}  // namespace
}  // namespace forebay::mpiio
