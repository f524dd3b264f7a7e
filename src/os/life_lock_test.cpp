#include "os/life_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "os/private_file.hpp"
#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

class LifeLock : public testing::Test {
 protected:
  [[nodiscard]] Fd open() const {
    return open_private_file(directory_.fd(), "lock", Create::kIfMissing).value();
  }
  TemporaryDirectory directory_;
};

TEST_F(LifeLock, OutlivesEveryDescriptorAndEndsWithTheMapping) {
  std::optional<Mapping> lock = lock_for_life(open(), "lock").value();
  EXPECT_EQ(lock_with_descriptor(open().get(), "lock").error().code, EAGAIN);
  EXPECT_EQ(lock_for_life(open(), "lock").error().code, EAGAIN);
  lock.reset();
  EXPECT_TRUE(lock_with_descriptor(open().get(), "lock"));
}

TEST_F(LifeLock, EndsWithTheProcessThoughItsForkedChildLives) {
  int ready[2];
  int hold[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(hold), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto lock = lock_for_life(open(), "lock");
    if (::fork() == 0) {  // lives until the test closes its end of the pipe
      ::close(hold[1]);
      char byte = 0;
      _exit(::read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    [[maybe_unused]] const auto told = ::write(ready[1], lock ? "y" : "n", 1);
    for (;;) ::pause();
  }
  ::close(hold[0]);
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_EQ(lock_with_descriptor(open().get(), "lock").error().code, EAGAIN);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_TRUE(lock_with_descriptor(open().get(), "lock"));
  ::close(hold[1]);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace forebay
