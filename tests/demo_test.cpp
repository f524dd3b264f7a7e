// ./dev demo, small: it shows its table, and leaves nothing behind however it ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "os/temporary_directory.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay {
namespace {

class Demo : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::SlowfsMount::available()) GTEST_SKIP() << "no /dev/fuse: the demo cannot run here";
  }

  void start(std::vector<std::string> options) {
    options.insert(options.begin(), FOREBAY_TEST_BUILD_DIR "/src/tools/demo/forebay-demo");
    options.insert(options.end(), {"--disk", disk_.path(), "--memory", memory_.path()});
    std::vector<char*> arguments;
    for (auto& option : options) arguments.push_back(option.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      const int out = ::open(output_.file("text").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
  }
  int wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] std::string output() const {
    std::ifstream in(output_.file("text"));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Any checkpoint there yet? Then it is in the middle of its work.
  [[nodiscard]] bool under_way() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(disk_.path())) {
      if (entry.path().filename().string().starts_with("step")) return true;
    }
    return false;
  }
  void expect_nothing_left() const {
    EXPECT_TRUE(std::filesystem::is_empty(disk_.path()));
    EXPECT_TRUE(std::filesystem::is_empty(memory_.path()));
  }

  TemporaryDirectory disk_;
  TemporaryDirectory memory_{"/dev/shm"};
  TemporaryDirectory output_;
  pid_t pid_ = -1;
};

TEST_F(Demo, ShowsOneTableAndCleansUp) {
  start({"--processes", "2", "--checkpoints", "3", "--size", "1MiB", "--compute", "20ms", "--bandwidth",
         "100MiB"});
  EXPECT_EQ(wait(), 0) << output();
  for (const auto* words :
       {"observed write time", "hidden time", "total time", "ratio", "all 6 files are equal"}) {
    EXPECT_NE(output().find(words), std::string::npos) << words << " is missing in:\n" << output();
  }
  EXPECT_EQ(output().find('\r'), std::string::npos) << "the progress display belongs on a terminal";
  expect_nothing_left();
}

TEST_F(Demo, AnInterruptCleansUp) {
  for (const int signal : {SIGINT, SIGTERM}) {
    start({"--processes", "2", "--checkpoints", "1000", "--size", "64KiB", "--compute", "20ms"});
    for (int i = 0; i < 2000 && !under_way(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_EQ(::kill(pid_, signal), 0);
    EXPECT_EQ(wait(), 128 + signal) << output();
    expect_nothing_left();
  }
}

TEST_F(Demo, ASlowFileSystemThatDoesNotMountIsOneSentence) {
  start({"--slowfs", "/bin/false"});
  EXPECT_EQ(wait(), 1);
  EXPECT_EQ(output(), "forebay-demo: the slow file system cannot be mounted: it gave no reason\n");
  expect_nothing_left();
}

TEST_F(Demo, TooLittleRoomIsOneSentence) {
  start({"--size", "1TiB"});
  EXPECT_EQ(wait(), 1);
  EXPECT_NE(output().find("forebay-demo: the demo needs 80TiB in "), std::string::npos) << output();
  expect_nothing_left();
}

}  // namespace
}  // namespace forebay
