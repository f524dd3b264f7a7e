#include "session/session.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

namespace forebay {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    std::string name = "/dev/shm/forebay-session-XXXXXX";
    root_ = ::mkdtemp(name.data());
    wanted_.overrides = {"buffer.directory=" + root_ + "/control", "tiers=memory:" + root_ + ":8MiB"};
  }
  ~SessionTest() override {
    (void)leave_all();
    std::filesystem::remove_all(root_);
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream in(root_ + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static bool write(Buffer& buffer, const std::string& path, std::string_view text) {
    auto file = buffer.open(path, O_RDWR | O_CREAT);
    return file && (*file)->write(0, std::as_bytes(std::span(text))) && (*file)->close();
  }

  std::string root_;
  Membership wanted_;
};

TEST_F(SessionTest, WhoMeansTheSameSharesOneMembership) {
  const auto one = join(wanted_);
  const auto two = join(wanted_);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(two);
  EXPECT_EQ(*one, *two);
}

TEST_F(SessionTest, WrongSettingsAreNamed) {
  wanted_.overrides.emplace_back("mode=asinc");
  wanted_.overrides_from = "connector string";
  const auto buffer = join(wanted_);
  ASSERT_FALSE(buffer);
  EXPECT_TRUE(buffer.error().message.starts_with("connector string: ")) << buffer.error().message;
}

TEST_F(SessionTest, LeavingBringsEverythingHomeAndOneMayJoinAgain) {
  auto buffer = join(wanted_);
  ASSERT_TRUE(buffer);
  auto file = (*buffer)->open(root_ + "/a", O_RDWR | O_CREAT);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write(0, std::as_bytes(std::span("text", 4))));
  ASSERT_TRUE(leave_all());
  EXPECT_EQ(content("a"), "text");
  EXPECT_FALSE((*file)->write(0, std::as_bytes(std::span("late", 4))));
  buffer = join(wanted_);
  ASSERT_TRUE(buffer);
  EXPECT_TRUE(write(**buffer, root_ + "/b", "again"));
  EXPECT_EQ(content("b"), "again");
}

TEST_F(SessionTest, AForkedChildJoinsByItself) {
  auto buffer = join(wanted_);
  ASSERT_TRUE(buffer);
  const auto before = fork_generation();
  const pid_t child = ::fork();
  if (child == 0) {
    auto own = join(wanted_);
    const bool good = fork_generation() != before && own && *own != *buffer &&
                      write(**own, root_ + "/c", "child") && leave_all();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content("c"), "child");
  EXPECT_EQ(fork_generation(), before);
  EXPECT_TRUE(write(**buffer, root_ + "/p", "parent"));
}

}  // namespace
}  // namespace forebay
