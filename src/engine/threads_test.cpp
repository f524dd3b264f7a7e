// How the engine's threads behave inside somebody else's program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

// Which signals a thread blocks, as a bit mask.
std::uint64_t blocked_by(const std::filesystem::path& task) {
  std::ifstream in(task / "status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("SigBlk:")) return std::stoull(line.substr(7), nullptr, 16);
  }
  return 0;
}

TEST(Threads, NoneOfThemTakesTheApplicationsSignals) {
  TestBuffer test;
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of(std::string(10'000, 'x'))), 10'000u);
  ASSERT_TRUE(file->sync());
  int seen = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::getpid())) continue;
    ++seen;
    EXPECT_NE(blocked_by(task.path()) & (1u << (SIGUSR1 - 1)), 0u) << task.path();
    EXPECT_NE(blocked_by(task.path()) & (1u << (SIGTERM - 1)), 0u) << task.path();
  }
  EXPECT_GE(seen, 3) << "the drain, the mover and a worker";
}

}  // namespace
}  // namespace forebay
