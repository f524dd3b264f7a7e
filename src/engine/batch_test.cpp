// Batches: all or nothing, whatever dies in between.
#include "engine/batch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

TEST(Batch, IsSeenAndGoesHome) {
  TestBuffer test;
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of(std::string(10'000, '.'))), 10'000u);
  const std::string one(100, '1');
  const std::string two(5000, '2');
  ASSERT_TRUE(file->write_as_one({.pieces = {{50, bytes_of(one)}, {4000, bytes_of(two)}}, .size = 9500}));
  std::string expected(9500, '.');
  expected.replace(50, one.size(), one);
  expected.replace(4000, two.size(), two);
  EXPECT_TRUE(test.read_all(*file) == expected);
  ASSERT_TRUE(file->close());
  EXPECT_TRUE(test.slurp(test.home("a")) == expected);
  for (const auto& entry : std::filesystem::directory_iterator(test.control_directory()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("batch-")) << "it was left behind";
}

TEST(Batch, LaterPiecesWin) {
  TestBuffer test;
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_TRUE(file->write_as_one({.pieces = {{0, bytes_of("abcdef")}, {2, bytes_of("XY")}}}));
  EXPECT_EQ(test.read_all(*file), "abXYef");
}

TEST(Batch, OfAFileOpenedToReadIsRefused) {
  TestBuffer test;
  (void)test.open(test.home("a"), O_RDWR | O_CREAT)->close();
  auto file = test.open(test.home("a"), O_RDONLY);
  EXPECT_FALSE(file->write_as_one({.pieces = {{0, bytes_of("x")}}}));
}

// What a process leaves that dies right after its batch was committed, or right before.
class LeftBatch : public ::testing::Test {
 protected:
  void leave(bool committed) {
    test_.attach();
    {
      auto file = test_.open(path_, O_RDWR | O_CREAT);
      ASSERT_EQ(file->write(0, bytes_of("old old old")), 11u);
      ASSERT_TRUE(file->drain());
    }
    test_.detach();
    const pid_t child = ::fork();
    if (child == 0) {
      test_.attach();
      auto file = test_.open(path_, O_RDWR);
      const auto number = file->number();
      auto& core = test_->core();
      const auto word =
          write_down(core, number, {.pieces = {{0, bytes_of("new")}, {8, bytes_of("new")}}, .size = 20}, 0);
      if (committed && word) core.control.file(number).batch.store(*word);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  std::string left_file() const {
    for (const auto& entry : std::filesystem::directory_iterator(test_.control_directory())) {
      if (entry.path().filename().string().starts_with("batch-")) return entry.path().string();
    }
    return "";
  }

  TestBuffer test_{"", false};
  const std::string path_ = test_.home("a");
};

TEST_F(LeftBatch, CommittedIsFinishedByTheNextToAttach) {
  leave(true);
  test_.attach();
  {
    auto file = test_.open(path_, O_RDONLY);
    EXPECT_EQ(test_.read_all(*file), std::string("new old new\0\0\0\0\0\0\0\0\0", 20));
  }
  test_.detach();
  EXPECT_EQ(test_.slurp(path_), std::string("new old new\0\0\0\0\0\0\0\0\0", 20));
  EXPECT_EQ(left_file(), "");
}

TEST_F(LeftBatch, UncommittedIsNothing) {
  leave(false);
  test_.attach();
  EXPECT_EQ(test_.read_all(*test_.open(path_, O_RDONLY)), "old old old");
  test_.detach();
  EXPECT_EQ(test_.slurp(path_), "old old old");
}

// A file that says "open" while its writer lives.
class Will : public ::testing::Test {
 protected:
  // Writes, leaves the will, does `more`, and dies.
  template <class More>
  void die_after(const More& more) {
    const pid_t child = ::fork();
    if (child == 0) {
      test_.attach();
      auto file = test_.open(path_, O_RDWR | O_CREAT);
      (void)file->write_as_one(
          {.pieces = {{0, bytes_of("open, 1")}}, .wills = {{0, bytes_of("open"), bytes_of("shut")}}});
      more(*file);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  std::string recovered() {
    test_.attach();
    test_.detach();
    return test_.slurp(path_);
  }

  TestBuffer test_{"", false};
  const std::string path_ = test_.home("a");
};

TEST_F(Will, IsCarriedOutForTheDead) {
  die_after([](File&) {});
  EXPECT_EQ(recovered(), "shut, 1");
  die_after([](File& file) { (void)file.drain(); });
  EXPECT_EQ(recovered(), "shut, 1");
}

TEST_F(Will, TheNextBatchTakesItsPlace) {
  die_after([](File& file) { (void)file.write_as_one({.pieces = {{6, bytes_of("2")}}}); });
  EXPECT_EQ(recovered(), "open, 2");
}

TEST_F(Will, CanBeWithdrawn) {
  die_after([](File& file) { (void)file.withdraw_will(); });
  EXPECT_EQ(recovered(), "open, 1");
}

TEST_F(Will, IsNotForAFileThatOthersHaveChanged) {
  die_after([](File& file) { (void)file.drain(); });
  std::ofstream(path_) << "else, 1";
  EXPECT_EQ(recovered(), "else, 1");
}

TEST_F(Will, IsNotForTheLiving) {
  test_.attach();
  auto file = test_.open(path_, O_RDWR | O_CREAT);
  ASSERT_TRUE(file->write_as_one(
      {.pieces = {{0, bytes_of("open, 1")}}, .wills = {{0, bytes_of("open"), bytes_of("shut")}}}));
  test_->recover();
  EXPECT_EQ(test_.read_all(*test_.open(path_, O_RDONLY)), "open, 1");
}

TEST_F(LeftBatch, DamagedIsNotCarriedOut) {
  leave(true);
  ASSERT_NE(left_file(), "");
  std::fstream(left_file(), std::ios::in | std::ios::out).seekp(-1, std::ios::end).put('?');
  test_.attach();
  EXPECT_EQ(test_.read_all(*test_.open(path_, O_RDONLY)), "old old old");
  test_.detach();
  EXPECT_EQ(test_.slurp(path_), "old old old");
}

}  // namespace
}  // namespace forebay
