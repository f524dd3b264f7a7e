// What doors over descriptors ask for: files by descriptor, direct ones, times, names.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "engine/test_buffer.hpp"
#include "os/fd.hpp"

namespace forebay {
namespace {

std::shared_ptr<File> open_descriptor(TestBuffer& test, const Fd& fd, int flags) {
  auto file = test->open_descriptor(fd.get(), flags, Look::kJustOpened);
  if (!file) throw std::runtime_error(file.error().message);
  return *file;
}

HomeIdentity identity_of(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return stamp_of(fd.get(), path).value().identity;
}

TEST(Descriptor, IsEnoughToOpenAFileThatHasNoName) {
  TestBuffer test("drain.trigger=never");
  const Fd fd(::open(test.home("a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::unlink(test.home("a").c_str()), 0);
  auto file = open_descriptor(test, fd, O_RDWR);
  ASSERT_EQ(file->write(0, bytes_of("text")), 4u);
  ASSERT_TRUE(file->drain());
  char home[5] = "";
  EXPECT_EQ(::pread(fd.get(), home, 4, 0), 4);
  EXPECT_STREQ(home, "text");
}

TEST(Descriptor, ThatAppendsDoesNotAppendWhatIsDrained) {
  TestBuffer test("drain.trigger=never");
  const Fd fd(::open(test.home("a").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  auto file = open_descriptor(test, fd, O_RDWR);
  ASSERT_TRUE(file->append(bytes_of("0123456789")));
  ASSERT_TRUE(file->drain());
  ASSERT_EQ(file->write(2, bytes_of("xx")), 2u);
  ASSERT_TRUE(file->drain());
  EXPECT_EQ(TestBuffer::slurp(test.home("a")), "01xx456789");
  // The same when the application asks for it later, behind our back.
  const Fd late(::open(test.home("b").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  auto other = open_descriptor(test, late, O_RDWR);
  ASSERT_EQ(::fcntl(late.get(), F_SETFL, O_APPEND), 0);
  ASSERT_EQ(other->write(0, bytes_of("abc")), 3u);
  ASSERT_TRUE(other->drain());
  ASSERT_EQ(other->write(0, bytes_of("x")), 1u);
  ASSERT_TRUE(other->drain());
  EXPECT_EQ(TestBuffer::slurp(test.home("b")), "xbc");
}

TEST(Descriptor, ThatIsLeftTakesItsLockAlong) {
  TestBuffer test("drain.trigger=never");
  const auto path = test.home("a");
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const Fd other(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  auto reader = open_descriptor(test, other, O_RDONLY);
  auto writer = open_descriptor(test, fd, O_RDWR);
  ASSERT_EQ(::flock(fd.get(), LOCK_EX | LOCK_NB), 0);
  ASSERT_EQ(writer->write(0, bytes_of("text")), 4u);
  writer->leave_descriptor();
  ASSERT_TRUE(writer->close());
  writer.reset();
  fd.reset();
  // A thread that has just looked after the file may have the descriptor for a moment more.
  int locked = -1;
  for (int i = 0; i < 1000 && locked != 0; ++i) {
    if (i != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    locked = ::flock(other.get(), LOCK_EX | LOCK_NB);
  }
  EXPECT_EQ(locked, 0);
  ASSERT_TRUE(reader->close());
  EXPECT_EQ(TestBuffer::slurp(path), "text");
}

// Others who write, or only read, go on without it.
TEST(Descriptor, ThatIsClosedBesideOthersIsClosed) {
  TestBuffer test("drain.trigger=never");
  const auto path = test.home("a");
  const Fd first(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const Fd other(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  auto writer = open_descriptor(test, first, O_RDWR);
  auto reader = open_descriptor(test, other, O_RDONLY);
  const auto write_and_leave = [&](const File* heir, const char* text) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    auto last = open_descriptor(test, fd, O_RDWR);
    EXPECT_EQ(::flock(fd.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(last->write(0, bytes_of(text)), 4u);
    EXPECT_TRUE(last->close());
    EXPECT_TRUE(last->others_here());
    last->leave_to(heir);
  };
  const auto is_free = [&] {
    int locked = -1;
    for (int i = 0; i < 1000 && locked != 0; ++i) {
      if (i != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      locked = ::flock(other.get(), LOCK_EX | LOCK_NB);
    }
    ::flock(other.get(), LOCK_UN);
    return locked == 0;
  };
  write_and_leave(writer.get(), "text");
  EXPECT_TRUE(is_free());
  ASSERT_EQ(writer->write(4, bytes_of(" more")), 5u);
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(TestBuffer::slurp(path), "text more");
  write_and_leave(nullptr, "TEXT");
  EXPECT_TRUE(is_free());
  ASSERT_TRUE(reader->close());
  EXPECT_FALSE(reader->others_here());
  EXPECT_EQ(TestBuffer::slurp(path), "TEXT more");
}

TEST(Descriptor, AFileMadeDirectIsSoForEveryHandle) {
  TestBuffer test("drain.trigger=never");
  const auto path = test.home("a");
  auto one = test.open(path, O_RDWR | O_CREAT);
  auto two = test.open(path, O_RDONLY);
  ASSERT_EQ(one->write(0, bytes_of("staged")), 6u);
  EXPECT_TRUE(two->unsaved());
  ASSERT_TRUE(two->go_direct());
  EXPECT_EQ(TestBuffer::slurp(path), "staged");
  EXPECT_FALSE(one->unsaved());
  ASSERT_EQ(one->write(6, bytes_of(" home")), 5u);
  EXPECT_EQ(TestBuffer::slurp(path), "staged home");
  EXPECT_EQ(two->size(), 11u);
  EXPECT_EQ(test.read_all(*two), "staged home");
  ASSERT_TRUE(one->close());
  ASSERT_TRUE(two->close());
  // It ends with its last user.
  auto again = test.open(path, O_RDWR);
  EXPECT_FALSE(again->direct());
  EXPECT_EQ(test.read_all(*again), "staged home");
}

TEST(Descriptor, HomeShowsWhenAFileWasWrittenNotWhenItWasDrained) {
  TestBuffer test("drain.trigger=never");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  file->keep_times();
  ASSERT_EQ(file->write(0, bytes_of("a")), 1u);
  EXPECT_NE(file->written_ns(), 0);
  file->set_written_ns(1'000'000'000'123'456'789);
  ASSERT_TRUE(file->drain());
  struct stat home{};
  ASSERT_EQ(::stat(path.c_str(), &home), 0);
  EXPECT_EQ(home.st_mtim.tv_sec, 1'000'000'000);
  EXPECT_EQ(home.st_mtim.tv_nsec, 123'456'789);
  // That time is ours: nothing is forgotten because of it.
  ASSERT_TRUE(file->meet_home());
  EXPECT_NE(test->core().control.file(file->number()).buckets.load(), 0u);
}

// A write larger than the buffer is carried home in part before it returns.
TEST(Descriptor, BytesThatGoHomeDuringTheirWriteHaveItsTime) {
  TestBuffer test("drain.delay=0ms");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  file->keep_times();
  file->set_written_ns(1'000'000'000'123'456'789);
  const std::string large(2 << 20, 'x');
  ASSERT_EQ(file->write(0, bytes_of(large)), large.size());
  struct stat home{};
  ASSERT_EQ(::stat(path.c_str(), &home), 0);
  ASSERT_GT(home.st_size, 0) << "some of it is home";
  EXPECT_NE(home.st_mtim.tv_sec, 1'000'000'000);
}

TEST(Descriptor, WhatLostItsNameIsForgottenWithItsLastUser) {
  TestBuffer test("drain.trigger=never");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  const auto identity = identity_of(path);
  ASSERT_EQ(file->write(0, bytes_of("nowhere")), 7u);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  test->unlinked(identity);
  EXPECT_EQ(test.read_all(*file), "nowhere");
  ASSERT_TRUE(file->close());
  EXPECT_FALSE(test->core().files.look_up(identity.device, identity.inode));
  EXPECT_EQ(test->core().counters().home_written_bytes.load(), 0u);
}

TEST(Descriptor, ARenamedFileIsFoundUnderItsNewName) {
  TestBuffer test("drain.trigger=never on_close=detach drain.program=/nowhere");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of("text")), 4u);
  std::filesystem::rename(test.home("a"), test.home("b"));
  ASSERT_TRUE(test->core().files.rename(identity_of(test.home("b")), test.home("b")));
  EXPECT_EQ(test->core().files.path(file->number()), test.home("b"));
  ASSERT_TRUE(HomeFile::reopen(test->core(), file->number()));
}

}  // namespace
}  // namespace forebay
