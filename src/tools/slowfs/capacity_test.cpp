#include "tools/slowfs/capacity.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace forebay::slowfs {
namespace {

constexpr uint64_t kBlock = 4096;

class CapacityTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "slowfs_capacity_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fd_ = open((folder_ + "/file").c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_GE(fd_, 0);
  }
  void TearDown() override {
    close(fd_);
    std::filesystem::remove_all(folder_);
  }
  void write(uint64_t offset, uint64_t size) {
    const std::vector<char> bytes(size, 'x');
    ASSERT_EQ(pwrite(fd_, bytes.data(), size, static_cast<off_t>(offset)), static_cast<ssize_t>(size));
  }

  std::string folder_;
  int fd_ = -1;
};

TEST_F(CapacityTest, GrowthIsRefusedAtTheLimit) {
  Capacity capacity(folder_);
  EXPECT_EQ(capacity.admit(fd_, 0, 2 * kBlock, 2 * kBlock), 2 * kBlock);
  write(0, 2 * kBlock);
  EXPECT_EQ(capacity.admit(fd_, 2 * kBlock, 1, 2 * kBlock), 0U);
}

TEST_F(CapacityTest, AWriteThatHalfFitsIsCutShort) {
  Capacity capacity(folder_);
  EXPECT_EQ(capacity.admit(fd_, 100, 3 * kBlock, 2 * kBlock), 2 * kBlock - 100);
}

TEST_F(CapacityTest, OverwritingNeedsNoRoomButAHoleDoes) {
  write(0, kBlock);
  ASSERT_EQ(ftruncate(fd_, 10 * kBlock), 0);
  Capacity capacity(folder_);
  EXPECT_EQ(capacity.admit(fd_, 10, 100, kBlock), 100U);
  EXPECT_EQ(capacity.admit(fd_, 5 * kBlock, 100, kBlock), 0U);
}

TEST_F(CapacityTest, FreedRoomIsNoticed) {
  Capacity capacity(folder_);
  EXPECT_EQ(capacity.admit(fd_, 0, kBlock, kBlock), kBlock);
  write(0, kBlock);
  EXPECT_EQ(capacity.admit(fd_, kBlock, kBlock, kBlock), 0U);
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  EXPECT_EQ(capacity.measure(), 0U);
  EXPECT_EQ(capacity.admit(fd_, kBlock, kBlock, kBlock), kBlock);
}

}  // namespace
}  // namespace forebay::slowfs
