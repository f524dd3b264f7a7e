#include "os/huge_pages.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kSize = 3 * kHugePage + 4096;

TEST(HugePages, MappingsAreAlignedAndKeepNothingElse) {
  const TemporaryDirectory directory("/dev/shm");
  const Fd file(::open(directory.file("data").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::posix_fallocate(file.get(), 0, kSize), 0);
  const auto mapping = map_for_huge_pages(file.get(), kSize, "data");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping->data()) % kHugePage, 0u);
  mapping->data()[kSize - 1] = std::byte{7};
  std::byte last{};
  ASSERT_EQ(::pread(file.get(), &last, 1, kSize - 1), 1);
  EXPECT_EQ(last, std::byte{7});
  // What was reserved beyond the file is nobody's any more.
  EXPECT_NE(::madvise(mapping->data() + kSize, 4096, MADV_NORMAL), 0);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(HugePages, WhatLiesThereStays) {
  const TemporaryDirectory directory("/dev/shm");
  const Fd file(::open(directory.file("data").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::ftruncate(file.get(), kSize), 0);
  const auto mapping = map_for_huge_pages(file.get(), kSize, "data");
  ASSERT_TRUE(mapping);
  ASSERT_EQ(::pwrite(file.get(), "before", 6, kHugePage + 100), 6);
  const auto end = put_huge_pages(file.get(), mapping->data(), 4096, kSize);
  EXPECT_TRUE(end == 4096 || (end % kHugePage == 0 && end <= kSize));
  EXPECT_EQ(std::filesystem::file_size(directory.file("data")), kSize);
  EXPECT_EQ(std::memcmp(mapping->data() + kHugePage + 100, "before", 6), 0);
  EXPECT_EQ(mapping->data()[kHugePage + 106], std::byte{0});
}

TEST(HugePages, AFileOnADiskIsLeftAlone) {
  const TemporaryDirectory directory;
  const Fd file(::open(directory.file("data").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::ftruncate(file.get(), kSize), 0);
  const auto mapping = map_for_huge_pages(file.get(), kSize, "data");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(put_huge_pages(file.get(), mapping->data(), 0, kSize), 0u);
  EXPECT_EQ(std::filesystem::file_size(directory.file("data")), kSize);
}

}  // namespace
}  // namespace forebay
