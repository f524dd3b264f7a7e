#include "os/private_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

std::uint64_t size_of(const std::string& path) { return std::filesystem::file_size(path); }

TEST(PrivateDirectory, IsMadeForTheOwnerAlone) {
  const TemporaryDirectory parent;
  const auto path = parent.file("ours");
  ASSERT_TRUE(open_private_directory(path));
  struct stat found{};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700u);
  EXPECT_TRUE(open_private_directory(path)) << "it is there already";
}

TEST(PrivateDirectory, RefusesWhatOthersMayEnter) {
  const TemporaryDirectory parent;
  const auto path = parent.file("open");
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
  const auto fd = open_private_directory(path);
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, EPERM);
}

TEST(PrivateDirectory, RefusesALinkAndAFile) {
  const TemporaryDirectory parent;
  ASSERT_EQ(::symlink(parent.path().c_str(), parent.file("link").c_str()), 0);
  ASSERT_TRUE(open_private_file(parent.fd(), "file", Create::kIfMissing));
  for (const auto* name : {"link", "file"}) {
    const auto fd = open_private_directory(parent.file(name));
    ASSERT_FALSE(fd) << name;
    EXPECT_EQ(fd.error().code, EPERM) << name;
  }
}

TEST(PrivateFile, PlainOutcomes) {
  const TemporaryDirectory directory;
  EXPECT_EQ(open_private_file(directory.fd(), "a", Create::kNever).error().code, ENOENT);
  ASSERT_TRUE(open_private_file(directory.fd(), "a", Create::kExclusive));
  EXPECT_EQ(open_private_file(directory.fd(), "a", Create::kExclusive).error().code, EEXIST);
  const auto fd = open_private_file(directory.fd(), "a", Create::kNever);
  ASSERT_TRUE(fd);
  EXPECT_EQ(::fcntl(fd->get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(path_of(fd->get()), directory.file("a"));
}

TEST(PrivateFile, RefusesTraps) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::symlink("/etc/passwd", directory.file("link").c_str()), 0);
  ASSERT_EQ(::mkfifo(directory.file("fifo").c_str(), 0600), 0);
  ASSERT_TRUE(open_private_file(directory.fd(), "twice", Create::kIfMissing));
  ASSERT_EQ(::link(directory.file("twice").c_str(), directory.file("second").c_str()), 0);
  ASSERT_TRUE(open_private_file(directory.fd(), "readable", Create::kIfMissing));
  ASSERT_EQ(::chmod(directory.file("readable").c_str(), 0644), 0);
  for (const auto* name : {"link", "fifo", "twice", "readable"}) {
    const auto fd = open_private_file(directory.fd(), name, Create::kIfMissing);
    ASSERT_FALSE(fd) << name;
    EXPECT_EQ(fd.error().code, EPERM) << name << ": " << fd.error().message;
  }
}

TEST(ReserveStorage, GrowsTheFileAndKeepsWhatItHas) {
  const TemporaryDirectory directory;
  const auto fd = open_private_file(directory.fd(), "a", Create::kIfMissing);
  ASSERT_TRUE(write_fully(fd->get(), "kept", 4, 0));
  ASSERT_TRUE(reserve_storage(*fd, 0, 1 << 20, "a"));
  EXPECT_EQ(size_of(directory.file("a")), 1u << 20);
  std::string back(4, '\0');
  EXPECT_EQ(read_fully(fd->get(), back.data(), 4, 0), 4u);
  EXPECT_EQ(back, "kept");
}

// A tmpfs of 4 MiB; nothing but root in a namespace of its own may mount one.
class SmallTmpfs : public testing::Test {
 protected:
  void SetUp() override {
    if (::mount("none", directory_.path().c_str(), "tmpfs", 0, "size=4m,mode=0700") != 0) {
      GTEST_SKIP() << "SKIPPED: no right to mount a tmpfs here";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(directory_.path().c_str(), MNT_DETACH);
  }
  TemporaryDirectory directory_;
  bool mounted_ = false;
};

TEST_F(SmallTmpfs, FullLeavesTheFileAsItWas) {
  const auto directory = open_private_directory(directory_.path());
  const auto fd = open_private_file(*directory, "a", Create::kIfMissing);
  ASSERT_TRUE(reserve_storage(*fd, 0, 1 << 20, "a"));
  const auto status = reserve_storage(*fd, 1 << 20, 64 << 20, "a");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ENOSPC);
  EXPECT_EQ(size_of(directory_.file("a")), 1u << 20);
  EXPECT_TRUE(reserve_storage(*fd, 1 << 20, 3 << 20, "a")) << "the failure left nothing behind";
}

TEST_F(SmallTmpfs, HolesThatCannotBeFilledAreAnErrorToo) {
  const auto directory = open_private_directory(directory_.path());
  const auto fd = open_private_file(*directory, "a", Create::kIfMissing);
  std::filesystem::resize_file(directory_.file("a"), 64 << 20);
  EXPECT_EQ(reserve_storage(*fd, 0, 64 << 20, "a").error().code, ENOSPC);
  EXPECT_EQ(size_of(directory_.file("a")), 64u << 20);
}

void ignore_signal(int) {}

TEST(ReserveStorage, EndsUnderAStormOfSignals) {
  if (::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "SKIPPED: no /dev/shm";
  const TemporaryDirectory directory("/dev/shm");
  const auto fd = open_private_file(directory.fd(), "a", Create::kIfMissing);
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = ignore_signal;
  ASSERT_EQ(::sigaction(SIGALRM, &action, &before), 0);
  const itimerval storm{{0, 2000}, {0, 2000}};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &storm, nullptr), 0);
  const auto status = reserve_storage(*fd, 0, 256 << 20, "a");
  const itimerval calm{};
  ::setitimer(ITIMER_REAL, &calm, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(status) << status.error().message;
}

TEST(FullTransfers, ReadStopsAtTheEnd) {
  const TemporaryDirectory directory;
  const auto fd = open_private_file(directory.fd(), "a", Create::kIfMissing);
  const std::vector<char> bytes(10000, 'x');
  ASSERT_TRUE(write_fully(fd->get(), bytes.data(), bytes.size(), 5));
  std::vector<char> back(20000);
  EXPECT_EQ(read_fully(fd->get(), back.data(), back.size(), 0), 10005u);
  EXPECT_EQ(back[4], '\0');
  EXPECT_EQ(back[5], 'x');
}

}  // namespace
}  // namespace forebay
