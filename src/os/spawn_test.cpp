#include "os/spawn.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What the background part of a program writes, once it is there.
std::string said_later(const std::string& path) {
  for (int i = 0; i < 2000 && !text_of(path).ends_with("end\n"); ++i) std::this_thread::sleep_for(5ms);
  return text_of(path);
}

TEST(Spawn, AProgramInTheBackgroundHasNothingOfThisProcessAndLeavesNoChild) {
  const TemporaryDirectory folder;
  const auto out = folder.file("out");
  const auto script =
      "(echo \"$NAME\"; ls /proc/self/fd | wc -l; readlink /proc/self/fd/2; echo end) > " + out + " &";
  const auto status = spawn_detached("sh", {"-c", script}, {"NAME=value", "PATH=/usr/bin:/bin"}, 10s);
  ASSERT_TRUE(status) << status.error().message;
  // Four: the standard ones and the folder that ls reads.
  EXPECT_EQ(said_later(out), "value\n4\n/dev/null\nend\n");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Spawn, SaysWhenThereIsNoSuchProgramOrItFails) {
  EXPECT_EQ(spawn_detached("no-such-program-here", {}, {}, 10s).error().code, ENOENT);
  EXPECT_EQ(spawn_detached("/bin/false", {}, {}, 10s).error().code, ECHILD);
}

TEST(Spawn, KnowsItsOwnFolder) { EXPECT_FALSE(own_folder().empty()); }

}  // namespace
}  // namespace forebay
