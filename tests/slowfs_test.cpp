// slowfs passes through what programs do with files, and slows, fails and counts it as told.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

// Can files of this folder be found again by handles, by us?
bool has_handles(const fs::path& folder) {
  alignas(file_handle) char room[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto& handle = *reinterpret_cast<file_handle*>(room);
  handle.handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool named = ::name_to_handle_at(fd, "", &handle, &mount, AT_EMPTY_PATH) == 0;
  const int found = named ? ::open_by_handle_at(fd, &handle, O_PATH | O_CLOEXEC) : -1;
  ::close(fd);
  if (found >= 0) ::close(found);
  return found >= 0;
}

class SlowfsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!SlowfsMount::available()) GTEST_SKIP() << "cannot mount: /dev/fuse is missing or closed to us";
    home_ = std::make_unique<SlowfsMount>();
  }

  std::string at(const std::string& name) const { return home_->path() / name; }
  int open_file(const std::string& name, int flags = O_RDWR | O_CREAT) {
    const int fd = open(at(name).c_str(), flags, 0644);
    if (fd >= 0) open_.push_back(fd);
    return fd;
  }
  std::string in_source(const std::string& name) const {
    std::ifstream file(home_->source() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // errno of one write, 0 if it went through
  static int write_error(int fd, const std::string& bytes, off_t offset = 0) {
    return pwrite(fd, bytes.data(), bytes.size(), offset) < 0 ? errno : 0;
  }
  static std::string pattern(size_t size) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 997);
    return bytes;
  }
  // A child that runs `body` and exits with its result.
  template <class Body>
  static pid_t in_child(Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    return child;
  }
  static int exit_code(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  void TearDown() override {
    for (const int fd : open_) close(fd);
  }

  std::unique_ptr<SlowfsMount> home_;
  std::vector<int> open_;
};

TEST_F(SlowfsTest, FilesThatTheKernelKnowsCostNoDescriptor) {
  if (!has_handles(home_->source())) GTEST_SKIP() << "no handles of files here: slowfs holds descriptors";
  constexpr int kFiles = 500;
  for (int i = 0; i < kFiles; ++i) std::ofstream(at("f" + std::to_string(i))) << i;
  const auto descriptors = fs::path("/proc") / std::to_string(home_->pid()) / "fd";
  EXPECT_LT(std::distance(fs::directory_iterator(descriptors), {}), kFiles / 2);
  for (int i = 0; i < kFiles; i += 100) EXPECT_EQ(in_source("f" + std::to_string(i)), std::to_string(i));
  // What lost its name is reached as long as it is open, and its successor is another file.
  const int fd = open_file("f7");
  ASSERT_EQ(::unlink(at("f7").c_str()), 0);
  std::ofstream(at("f7")) << "another";
  struct stat old{};
  struct stat now{};
  ASSERT_EQ(::fstat(fd, &old), 0);
  ASSERT_EQ(::stat(at("f7").c_str(), &now), 0);
  EXPECT_EQ(old.st_nlink, 0u);
  EXPECT_EQ(old.st_size, 1);
  EXPECT_EQ(now.st_size, 7);
}

TEST_F(SlowfsTest, LargeWritesArriveByteForByte) {
  const std::string bytes = pattern(5'000'001);
  const int fd = open_file("data");
  ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), 17), static_cast<ssize_t>(bytes.size()));
  std::string back(bytes.size(), '\0');
  ASSERT_EQ(pread(fd, back.data(), back.size(), 17), static_cast<ssize_t>(back.size()));
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(in_source("data"), std::string(17, '\0') + bytes);
  EXPECT_EQ(home_->stat("write", "bytes"), bytes.size());
  EXPECT_EQ(home_->stat("write", "requests"), 5U);
  EXPECT_EQ(home_->stat("read", "bytes"), bytes.size());
}

TEST_F(SlowfsTest, SizeAndInodeNumberAreThoseOfTheSource) {
  const int fd = open_file("file");
  for (off_t size : {1, 5000, 70, 1 << 20}) {
    ASSERT_EQ(ftruncate(fd, size), 0);
    struct stat through{};
    struct stat direct{};
    ASSERT_EQ(stat(at("file").c_str(), &through), 0);
    ASSERT_EQ(stat((home_->source() / "file").c_str(), &direct), 0);
    EXPECT_EQ(through.st_size, size);
    EXPECT_EQ(through.st_ino, direct.st_ino);
  }
}

TEST_F(SlowfsTest, AChangeBehindItsBackIsSeen) {
  const int fd = open_file("file");
  ASSERT_EQ(write_error(fd, "old"), 0);
  std::ofstream(home_->source() / "file", std::ios::trunc) << "longer than before";
  struct stat attributes{};
  ASSERT_EQ(fstat(fd, &attributes), 0);
  EXPECT_EQ(attributes.st_size, 18);
  fs::remove(home_->source() / "file");
  EXPECT_EQ(open_file("file", O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(SlowfsTest, OpenFlagsMeanWhatTheyMean) {
  ASSERT_EQ(write_error(open_file("file"), "12345"), 0);
  EXPECT_EQ(open_file("file", O_RDWR | O_CREAT | O_EXCL), -1);
  EXPECT_EQ(errno, EEXIST);
  const int first = open_file("file", O_WRONLY | O_APPEND);
  const int second = open_file("file", O_WRONLY | O_APPEND);
  ASSERT_EQ(write(first, "a", 1), 1);
  ASSERT_EQ(write(second, "b", 1), 1);
  ASSERT_EQ(write(first, "c", 1), 1);
  EXPECT_EQ(in_source("file"), "12345abc");
  ASSERT_EQ(fcntl(first, F_SETFL, 0), 0);
  ASSERT_EQ(write_error(first, "X"), 0);
  EXPECT_EQ(in_source("file"), "X2345abc");
  ASSERT_GE(open_file("file", O_WRONLY | O_TRUNC), 0);
  EXPECT_EQ(in_source("file"), "");
}

TEST_F(SlowfsTest, AnUnlinkedFileLivesUntilClosed) {
  const int fd = open_file("file");
  ASSERT_EQ(write_error(fd, "still here"), 0);
  ASSERT_EQ(unlink(at("file").c_str()), 0);
  EXPECT_FALSE(fs::exists(home_->source() / "file"));
  ASSERT_EQ(ftruncate(fd, 5), 0);
  struct stat attributes{};
  ASSERT_EQ(fstat(fd, &attributes), 0);
  EXPECT_EQ(attributes.st_size, 5);
  EXPECT_EQ(attributes.st_nlink, 0U);
  char back[16] = {};
  EXPECT_EQ(pread(fd, back, sizeof back, 0), 5);
  EXPECT_STREQ(back, "still");
}

TEST_F(SlowfsTest, NamesCanBeLinkedRenamedAndExchanged) {
  ASSERT_EQ(write_error(open_file("a"), "A"), 0);
  ASSERT_EQ(write_error(open_file("b"), "B"), 0);
  ASSERT_EQ(mkdir(at("folder").c_str(), 0755), 0);
  ASSERT_EQ(link(at("a").c_str(), at("folder/hard").c_str()), 0);
  ASSERT_EQ(symlink("../a", at("folder/soft").c_str()), 0);
  EXPECT_EQ(fs::read_symlink(at("folder/soft")), "../a");
  EXPECT_TRUE(fs::equivalent(at("a"), at("folder/hard")));
  EXPECT_EQ(renameat2(AT_FDCWD, at("a").c_str(), AT_FDCWD, at("b").c_str(), RENAME_NOREPLACE), -1);
  EXPECT_EQ(errno, EEXIST);
  ASSERT_EQ(renameat2(AT_FDCWD, at("a").c_str(), AT_FDCWD, at("b").c_str(), RENAME_EXCHANGE), 0);
  EXPECT_EQ(in_source("a"), "B");
  ASSERT_EQ(rename(at("a").c_str(), at("b").c_str()), 0);
  EXPECT_EQ(in_source("b"), "B");
  EXPECT_EQ(rmdir(at("folder").c_str()), -1);
  EXPECT_EQ(errno, ENOTEMPTY);
  EXPECT_EQ(fs::remove_all(at("folder")), 3U);
}

TEST_F(SlowfsTest, ADirectoryOfManyFilesIsListedOnce) {
  for (int i = 0; i < 1000; ++i) std::ofstream(home_->source() / ("name_of_a_file_" + std::to_string(i)));
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(home_->path())) {
    EXPECT_TRUE(seen.insert(entry.path().filename()).second) << entry.path();
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST_F(SlowfsTest, AttributesTimesHolesAndLocksPassThrough) {
  const int fd = open_file("file");
  const timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 1}, {.tv_sec = 2000, .tv_nsec = 2}};
  ASSERT_EQ(futimens(fd, times), 0);
  ASSERT_EQ(fchmod(fd, 0600), 0);
  struct stat attributes{};
  ASSERT_EQ(fstat(fd, &attributes), 0);
  EXPECT_EQ(attributes.st_mtim.tv_sec, 2000);
  EXPECT_EQ(attributes.st_mode & 07777, 0600U);

  ASSERT_EQ(ftruncate(fd, 1 << 20), 0);
  ASSERT_EQ(write_error(fd, std::string(4096, 'x'), 512 * 1024), 0);
  EXPECT_EQ(lseek(fd, 0, SEEK_DATA), 512 * 1024);
  EXPECT_EQ(lseek(fd, 512 * 1024, SEEK_HOLE), 516 * 1024);
  EXPECT_EQ(lseek(fd, 0, SEEK_END), 1 << 20);
  ASSERT_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 512 * 1024, 4096), 0);
  EXPECT_EQ(lseek(fd, 0, SEEK_DATA), -1);

  const int other = open_file("file");
  EXPECT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(flock(other, LOCK_EX | LOCK_NB), -1);
  EXPECT_EQ(errno, EWOULDBLOCK);

  if (fsetxattr(fd, "user.forebay", "v", 1, 0) != 0) {
    GTEST_SKIP() << "the source's file system has no user attributes: they were not tested";
  }
  char value[8] = {};
  EXPECT_EQ(fgetxattr(fd, "user.forebay", value, sizeof value), 1);
  EXPECT_EQ(fgetxattr(fd, "user.none", value, sizeof value), -1);
  EXPECT_EQ(errno, ENODATA);
}

TEST_F(SlowfsTest, TheControlDirectoryIsReachableButNotListed) {
  EXPECT_TRUE(fs::is_empty(home_->path()));
  EXPECT_TRUE(fs::exists(at(".slowfs/control")));
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(at(".slowfs"))) names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"control", "stats"}));
  EXPECT_EQ(open_file(".slowfs/other"), -1);
  EXPECT_EQ(mkdir(at(".slowfs").c_str(), 0700), -1);
  EXPECT_EQ(home_->try_control("latency=soon"), EINVAL);
  EXPECT_EQ(home_->try_control("latency=1ms\nwrite_bandwidth=100MB\n"), 0);
  std::ifstream control(at(".slowfs/control"));
  const std::string text{std::istreambuf_iterator<char>(control), {}};
  EXPECT_NE(text.find("latency=1000000ns\n"), std::string::npos) << text;
  EXPECT_NE(text.find("write_bandwidth=100000000\n"), std::string::npos) << text;
}

TEST_F(SlowfsTest, StatisticsCountByKindAndReset) {
  const int fd = open_file("file");
  for (int i = 0; i < 10; ++i) ASSERT_EQ(write_error(fd, std::string(4096, 'x'), i * 4096), 0);
  ASSERT_EQ(fsync(fd), 0);
  EXPECT_EQ(home_->stat("write", "requests"), 10U);
  EXPECT_EQ(home_->stat("write", "mean_size"), 4096U);
  EXPECT_EQ(home_->stat("fsync", "requests"), 1U);
  EXPECT_EQ(home_->stat("open", "requests"), 1U);
  home_->control("reset_stats");
  EXPECT_EQ(home_->stat("write", "requests"), 0U);
  EXPECT_EQ(home_->stat("write", "bytes"), 0U);
}

TEST_F(SlowfsTest, FaultsHitWhatTheyName) {
  const int fd = open_file("file");
  home_->control("fail_nth_write=2,ENOSPC");
  EXPECT_EQ(write_error(fd, "one"), 0);
  EXPECT_EQ(write_error(fd, "two"), ENOSPC);
  EXPECT_EQ(write_error(fd, "three"), 0);
  EXPECT_EQ(in_source("file"), "three");
  EXPECT_EQ(home_->stat("write", "errors"), 1U);

  home_->control("fail_write=EDQUOT\nfail_fsync=EIO\nfail_open=EACCES");
  EXPECT_EQ(write_error(fd, "four"), EDQUOT);
  EXPECT_EQ(fsync(fd), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(open_file("file", O_RDONLY), -1);
  EXPECT_EQ(errno, EACCES);

  home_->control("fail_write=none\nfail_fsync=none\nfail_open=none\nfail_close=EIO");
  EXPECT_EQ(write_error(fd, "five!"), 0);
  EXPECT_EQ(fsync(fd), 0);
  const int other = open(at("file").c_str(), O_RDONLY);
  ASSERT_GE(other, 0);
  EXPECT_EQ(close(other), -1);
  EXPECT_EQ(errno, EIO);
}

TEST_F(SlowfsTest, AReadOnlyHomeCanBeReadAndNotChanged) {
  const int fd = open_file("file");
  ASSERT_EQ(write_error(fd, "before"), 0);
  home_->control("read_only=yes");
  EXPECT_EQ(write_error(fd, "after"), EROFS);
  EXPECT_EQ(ftruncate(fd, 0), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(open_file("new"), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(unlink(at("file").c_str()), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(access(at("file").c_str(), W_OK), -1);
  char back[16] = {};
  EXPECT_EQ(pread(open_file("file", O_RDONLY), back, sizeof back, 0), 6);
  EXPECT_STREQ(back, "before");
}

TEST_F(SlowfsTest, ACapacityFillsUpAndFreesAgain) {
  home_->control("capacity=1MiB");
  const int fd = open_file("file");
  const std::string block(64 * 1024, 'x');
  for (int i = 0; i < 16; ++i) ASSERT_EQ(write_error(fd, block, i * 65536), 0) << i;
  EXPECT_EQ(write_error(fd, block, 16 * 65536), ENOSPC);
  EXPECT_EQ(write_error(fd, block, 0), 0);
  struct statvfs space{};
  ASSERT_EQ(statvfs(home_->path().c_str(), &space), 0);
  EXPECT_EQ(space.f_blocks * space.f_frsize, 1U << 20);
  EXPECT_EQ(space.f_bavail, 0U);
  ASSERT_EQ(ftruncate(fd, 8 * 65536), 0);
  EXPECT_EQ(write_error(fd, block, 8 * 65536), 0);
}

TEST_F(SlowfsTest, ProcessesShareOneFileSystem) {
  const std::string bytes = pattern(300'000);
  const auto writer = [&](const std::string& name) {
    return in_child([&] {
      const int fd = open(at(name).c_str(), O_RDWR | O_CREAT, 0644);
      return pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) ? 0 : 1;
    });
  };
  home_->control("hang=writes");
  const pid_t first = writer("first");
  const pid_t second = writer("second");
  EXPECT_TRUE(home_->wait_for_stat("write", "in_flight", 2));
  home_->control("hang=none");
  EXPECT_EQ(exit_code(first), 0);
  EXPECT_EQ(exit_code(second), 0);
  EXPECT_EQ(in_source("first"), bytes);
  EXPECT_EQ(in_source("second"), bytes);
  EXPECT_EQ(home_->stat("write", "requests"), 2U);
  EXPECT_EQ(home_->stat("write", "bytes"), 600'000U);
  EXPECT_EQ(home_->stat("write", "max_in_flight"), 2U);
}

TEST_F(SlowfsTest, WritesIntoOneFileRunSideBySide) {
  const int fd = open_file("file");
  ASSERT_EQ(ftruncate(fd, 8 * 4096), 0);
  home_->control("hang=writes");
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] { EXPECT_EQ(write_error(fd, std::string(4096, 'x'), i * 4096), 0); });
  }
  EXPECT_TRUE(home_->wait_for_stat("write", "in_flight", 8));
  home_->control("hang=none");
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(in_source("file"), std::string(8 * 4096, 'x'));
}

TEST_F(SlowfsTest, ControlIsReachableWhileHundredsHang) {
  constexpr int kWriters = 300;
  const int fd = open_file("file");
  ASSERT_EQ(ftruncate(fd, kWriters), 0);
  home_->control("hang=all");
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) writers.emplace_back([&, i] { EXPECT_EQ(write_error(fd, "x", i), 0); });
  EXPECT_TRUE(home_->wait_for_stat("write", "in_flight", kWriters));
  EXPECT_EQ(home_->stat("write", "requests"), 0U);
  home_->control("hang=none");
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(home_->stat("write", "requests"), static_cast<uint64_t>(kWriters));
}

TEST_F(SlowfsTest, AProcessThatHangsCanBeKilled) {
  const int fd = open_file("file");
  home_->control("hang=writes");
  const pid_t child = in_child([&] { return write_error(fd, "never"); });
  EXPECT_TRUE(home_->wait_for_stat("write", "in_flight", 1));
  kill(child, SIGKILL);
  EXPECT_EQ(exit_code(child), -SIGKILL);
  home_->control("hang=none");
  EXPECT_EQ(in_source("file"), "");
}

TEST_F(SlowfsTest, ItUnmountsWhateverHangs) {
  const int fd = open_file("file");
  home_->control("hang=all");
  std::thread writer([&] { EXPECT_NE(write_error(fd, "never"), 0); });
  EXPECT_TRUE(home_->wait_for_stat("write", "in_flight", 1));
  EXPECT_EQ(home_->unmount(), 0);
  writer.join();
  EXPECT_TRUE(fs::is_empty(home_->path()));
  EXPECT_FALSE(fs::exists(at(".slowfs")));
}

TEST(SlowfsOptions, SettingsComeFromTheCommandLineToo) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "cannot mount: /dev/fuse is missing or closed to us";
  const SlowfsMount home({"--fail-open=EIO", "--latency=1us"});
  EXPECT_EQ(open((home.path() / "file").c_str(), O_RDWR | O_CREAT, 0644), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_THROW(SlowfsMount({"--latency=soon"}), std::runtime_error);
}

}  // namespace
}  // namespace forebay::testing
