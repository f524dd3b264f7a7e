#include "base/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace forebay {
namespace {

class Log : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "forebay-log-test." + std::to_string(getpid());
    ASSERT_TRUE(set_log_file(path_));
  }
  void TearDown() override {
    EXPECT_TRUE(set_log_file(""));
    set_log_level(LogLevel::Warn);
    std::filesystem::remove(path_);
  }
  std::string content() const {
    std::ifstream file(path_);
    return (std::ostringstream() << file.rdbuf()).str();
  }
  std::string prefix() const { return "forebay[" + std::to_string(getpid()) + "] "; }

  std::string path_;
};

TEST_F(Log, WritesOneLineUpToTheLevel) {
  set_log_level(LogLevel::Info);
  log_info("{} files in {}", 3, "buffer");
  log_debug("dropped");
  log_error("two\nlines");
  EXPECT_EQ(content(), prefix() + "info: 3 files in buffer\n" + prefix() + "error: two lines\n");
}

TEST_F(Log, OffIsSilent) {
  set_log_level(LogLevel::Off);
  log_error("dropped");
  log(LogLevel::Off, "dropped");
  EXPECT_EQ(content(), "");
}

TEST_F(Log, KeepsErrno) {
  errno = EDQUOT;
  log_warn("full");
  EXPECT_EQ(errno, EDQUOT);
}

TEST_F(Log, FileThatCannotBeOpenedLeavesTheTarget) {
  const auto status = set_log_file("/nonexistent/log");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "cannot open log file /nonexistent/log: No such file or directory");
  log_warn("still here");
  EXPECT_EQ(content(), prefix() + "warn: still here\n");
}

TEST_F(Log, FileIsPrivate) {
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(Log, ThreadsDoNotMixLines) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 100; ++j) log_warn("{}", std::string(200, 'x'));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::ifstream file(path_);
  const std::string expected = prefix() + "warn: " + std::string(200, 'x');
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) ASSERT_EQ(line, expected);
  EXPECT_EQ(lines, 400);
}

}  // namespace
}  // namespace forebay
