// A file that somebody also writes past the buffer: nobody keeps what it reads of it from home.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

void past(FileSettings& settings) { settings.written_past = true; }

class WrittenPast : public ::testing::Test {
 protected:
  WrittenPast() : test_("admission.read=always readahead.max=0") { write_home("old"); }
  // In place, as a program beside the buffer would.
  void write_home(const std::string& text) {
    std::fstream out(test_.home("a"), std::ios::in | std::ios::out | std::ios::binary);
    if (!out) out.open(test_.home("a"), std::ios::out | std::ios::binary);
    out << text;
  }
  [[nodiscard]] std::uint64_t filled() { return test_->core().counters().filled_bytes.load(); }

  TestBuffer test_;
};

TEST_F(WrittenPast, AReaderSeesWhatIsWrittenUnseenFromThenOn) {
  auto reader = test_.open(test_.home("a"), O_RDONLY);
  ASSERT_EQ(test_.read_all(*reader), "old");
  ASSERT_NE(filled(), 0u);
  auto writer = test_->open(test_.home("a"), O_RDWR, 0666, past);
  ASSERT_TRUE(writer);
  write_home("new");
  const auto before = filled();
  EXPECT_EQ(test_.read_all(*reader), "new");
  EXPECT_EQ(reader->prefetch(0, 3).wait(std::chrono::seconds(60)), 0u);
  write_home("NEW");
  EXPECT_EQ(test_.read_all(*reader), "NEW");
  EXPECT_EQ(filled(), before);
}

TEST_F(WrittenPast, WhatIsStagedIsServed) {
  auto reader = test_.open(test_.home("a"), O_RDONLY);
  auto writer = test_->open(test_.home("a"), O_RDWR, 0666, past);
  ASSERT_TRUE(writer);
  ASSERT_EQ((*writer)->write(1, bytes_of("W")), 1u);
  EXPECT_EQ(test_.read_all(*reader), "oWd");
}

TEST_F(WrittenPast, EndsWithTheLastWhoDoesIt) {
  auto reader = test_.open(test_.home("a"), O_RDONLY);
  auto first = test_->open(test_.home("a"), O_RDWR, 0666, past);
  auto second = test_->open(test_.home("a"), O_RDWR, 0666, past);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE((*first)->close());
  (void)test_.read_all(*reader);
  EXPECT_EQ(filled(), 0u);
  ASSERT_TRUE((*second)->close());
  // This process still has one entry, which says so, until it has closed the file for good.
  ASSERT_TRUE(reader->close());
  reader = test_.open(test_.home("a"), O_RDONLY);
  (void)test_.read_all(*reader);
  EXPECT_EQ(filled(), 3u);
}

TEST_F(WrittenPast, EndsWithTheDeathOfAnotherProcessThatDidIt) {
  auto reader = test_.open(test_.home("a"), O_RDONLY);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto child = ::fork();
  if (child == 0) {
    auto buffer = Buffer::attach(test_.settings());
    auto writer = (*buffer)->open(test_.home("a"), O_RDWR, 0666, past);
    const char ready = writer ? 'y' : 'n';
    (void)!::write(ends[1], &ready, 1);
    ::pause();
    ::_exit(0);
  }
  char ready = 'n';
  ASSERT_EQ(::read(ends[0], &ready, 1), 1);
  EXPECT_EQ(ready, 'y');
  (void)test_.read_all(*reader);
  EXPECT_EQ(filled(), 0u);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ends[0]);
  ::close(ends[1]);
  test_->recover();
  (void)test_.read_all(*reader);
  EXPECT_EQ(filled(), 3u);
}

}  // namespace
}  // namespace forebay
