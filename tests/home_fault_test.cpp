// Home that fails, fills up, forbids writing, or is changed behind our back: nothing staged is lost,
// the error comes where the kernel would give it, status names it, and what could not go home goes when it
// can.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "support/slow_home.hpp"

namespace forebay::testing {
namespace {

using HomeFault = SlowHome;

class HomeFaultOf : public HomeFault, public ::testing::WithParamInterface<std::pair<const char*, int>> {};

TEST_P(HomeFaultOf, IsReportedBySyncAndCloseAndLosesNothing) {
  const auto [name, code] = GetParam();
  prepare("drain.trigger=never");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(30'000);
  slowfs_->control("fail_write=" + std::string(name));
  ASSERT_TRUE(put(*file, 5, bytes));
  EXPECT_EQ(code_of(file->sync()), code);
  EXPECT_EQ(code_of(file->sync()), code) << "it has not gone away";
  EXPECT_EQ(status().error, code);
  EXPECT_EQ(status().unsaved, bytes.size());
  std::string back(bytes.size(), '?');
  ASSERT_TRUE(file->read(5, std::as_writable_bytes(std::span(back))));
  EXPECT_TRUE(back == bytes);
  EXPECT_EQ(code_of(file->close()), code);
  slowfs_->control("fail_write=none");
  EXPECT_TRUE(buffer->drain(20s));
  EXPECT_TRUE(at_home("a") == std::string(5, '\0') + bytes);
  EXPECT_EQ(status().error, 0);
  EXPECT_EQ(status().unsaved, 0u);
}

TEST_P(HomeFaultOf, OnOneWriteIsReportedOnceByTheNextCallAndHealsByItself) {
  const auto [name, code] = GetParam();
  prepare();
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(3000);
  slowfs_->control("fail_write=" + std::string(name));
  ASSERT_TRUE(put(*file, 0, bytes));
  // The background tries, fails and keeps the bytes; the next write is told, the one after is not.
  for (int i = 0; i < 1000 && status().error == 0; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(status().error, code);
  const auto told = put(*file, 0, bytes);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, code);
  slowfs_->control("fail_write=none");
  EXPECT_TRUE(put(*file, 3000, bytes));
  for (int i = 0; i < 2000 && at_home("a").size() < 6000; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(at_home("a") == bytes + bytes);
  EXPECT_TRUE(file->close());
}

TEST_P(HomeFaultOf, OfADeadProcessIsFinishedLater) {
  const auto [name, code] = GetParam();
  prepare();
  const auto bytes = some_bytes(50'000);
  die_with("a", bytes);
  slowfs_->control("fail_write=" + std::string(name));
  EXPECT_EQ(code_of(recover()), code);
  EXPECT_EQ(status().error, code);
  EXPECT_EQ(status().unsaved, bytes.size());
  slowfs_->control("fail_write=none");
  EXPECT_TRUE(recover());
  EXPECT_TRUE(at_home("a") == bytes);
}

INSTANTIATE_TEST_SUITE_P(Errors, HomeFaultOf,
                         ::testing::Values(std::pair("EIO", EIO), std::pair("ENOSPC", ENOSPC),
                                           std::pair("EDQUOT", EDQUOT)),
                         [](const auto& each) { return std::string(each.param.first); });

TEST_F(HomeFault, OneFailedWriteAmongManyLosesNothing) {
  prepare("drain.delay=0s pressure.wait=2s");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  std::string expected;
  for (unsigned i = 0; i < 60; ++i) {
    slowfs_->control("fail_nth_write=" + std::to_string(1 + i % 5) + ",EIO");
    const auto bytes = some_bytes(9000, i);
    // The error of an earlier write is told once, and this one is not staged then.
    while (!put(*file, expected.size(), bytes)) {
    }
    expected += bytes;
  }
  slowfs_->control("fail_nth_write=none");
  while (!file->sync()) {
  }
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(at_home("a") == expected);
}

class DurabilityAtHome : public HomeFault, public ::testing::WithParamInterface<const char*> {};

TEST_P(DurabilityAtHome, IsMadeByASync) {
  prepare(GetParam());
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(put(*file, i * 5000, some_bytes(100)));
    EXPECT_GE(slowfs_->stat("fsync", "requests"), i) << "it would not survive the node";
  }
  const Batch batch{
      .pieces = {{0, std::as_bytes(std::span("one", 3))}, {9, std::as_bytes(std::span("two", 3))}}};
  ASSERT_TRUE(file->write_as_one(batch));
  EXPECT_GE(slowfs_->stat("fsync", "requests"), 4u);
  slowfs_->control("fail_fsync=EIO");
  EXPECT_FALSE(put(*file, 0, some_bytes(100)));
  slowfs_->control("fail_fsync=none");
  EXPECT_TRUE(file->close());
}

INSTANTIATE_TEST_SUITE_P(Ways, DurabilityAtHome,
                         ::testing::Values("durability=home", "durability=node mode=sync",
                                           "durability=home mode=bypass",
                                           "durability=home admission.write=never"),
                         [](const auto& each) {
                           std::string name = each.param;
                           for (auto& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

TEST_F(HomeFault, DurabilityNodeIsLoggedAlsoWhereWritesAreNotAdmitted) {
  prepare("durability=node admission.write=never journal.size=1MiB");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  ASSERT_TRUE(put(*file, 0, some_bytes(100)));
  EXPECT_EQ(buffer->core().control.file(file->number()).logged.load(), 1u);
  EXPECT_TRUE(at_home("a") == some_bytes(100));
}

TEST_F(HomeFault, WhatHomeHasOnceChangedIsNotReadFromTheBuffer) {
  // The kernel remembers what home said of a file for a while; another node has changed it since.
  prepare("admission.read=always");
  std::ofstream(slowfs_->source() / "a") << std::string(8000, 'x');
  auto buffer = place_->attach();
  std::string back(8000, '?');
  const auto read = [&] {
    auto file = open(*buffer, "a", O_RDONLY);
    return file->read(0, std::as_writable_bytes(std::span(back))).has_value() && file->close().has_value();
  };
  ASSERT_TRUE(read());
  EXPECT_TRUE(back == std::string(8000, 'x'));
  std::ofstream(slowfs_->source() / "a") << std::string(8000, 'y');
  const auto asked = slowfs_->stat("query", "requests");
  ASSERT_TRUE(read());
  EXPECT_TRUE(back == std::string(8000, 'y'));
  EXPECT_GT(slowfs_->stat("query", "requests"), asked);
}

TEST_F(HomeFault, OneOfManyPiecesOfABlockThatFailsKeepsThemAll) {
  prepare("drain.trigger=never drain.in_flight=4");
  auto buffer = place_->attach();
  const auto bytes = some_bytes(16);
  const auto file = open_with_pieces(*buffer, 128, bytes);
  slowfs_->control("fail_nth_write=7,EIO");
  EXPECT_EQ(code_of(file->sync()), EIO);
  EXPECT_EQ(status().unsaved, kPieces * bytes.size());
  slowfs_->control("fail_nth_write=none");
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
  expect_pieces_at_home(128, bytes);
}

TEST_F(HomeFault, AReadOnlyHomeRefusesAndTakesTheBytesLater) {
  prepare("drain.trigger=never");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(20'000);
  ASSERT_TRUE(put(*file, 0, bytes));
  slowfs_->control("read_only=yes");
  EXPECT_EQ(code_of(file->sync()), EROFS);
  EXPECT_EQ(status().error, EROFS);
  slowfs_->control("read_only=no");
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(at_home("a") == bytes);
}

TEST_F(HomeFault, ATruncationThatHomeRefusesChangesNothing) {
  prepare("drain.trigger=never");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(20'000);
  ASSERT_TRUE(put(*file, 0, bytes));
  slowfs_->control("read_only=yes");
  EXPECT_EQ(code_of(file->truncate(100)), EROFS);
  slowfs_->control("read_only=no");
  EXPECT_EQ(file->size(), 20'000u);
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(at_home("a") == bytes);
}

TEST_F(HomeFault, AHomeThatFillsUpKeepsWhatFitsAndTheRestStays) {
  prepare("drain.trigger=never");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(40'000);
  slowfs_->control("capacity=16KiB");
  ASSERT_TRUE(put(*file, 0, bytes));
  EXPECT_EQ(code_of(file->sync()), ENOSPC);
  slowfs_->control("capacity=0");
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(at_home("a") == bytes);
}

TEST_F(HomeFault, AFailingReadIsAnErrorAndNothingIsCached) {
  prepare("admission.read=always");
  std::ofstream(slowfs_->source() / "a") << some_bytes(20'000);
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  slowfs_->control("fail_read=EIO");
  std::string back(20'000, '?');
  EXPECT_FALSE(file->read(0, std::as_writable_bytes(std::span(back))));
  EXPECT_FALSE(file->prefetch(0, 20'000).wait(20s));
  slowfs_->control("fail_read=none");
  ASSERT_TRUE(file->read(0, std::as_writable_bytes(std::span(back))));
  EXPECT_TRUE(back == some_bytes(20'000));
}

TEST_F(HomeFault, AFailingFsyncIsToldAndTriedAgain) {
  prepare();
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  slowfs_->control("fail_fsync=EIO");
  ASSERT_TRUE(put(*file, 0, some_bytes(100)));
  EXPECT_EQ(code_of(file->sync()), EIO);
  slowfs_->control("fail_fsync=none");
  EXPECT_TRUE(file->sync());
}

TEST_F(HomeFault, AFileRemovedBehindADeadProcessIsNotMadeAgain) {
  prepare();
  const auto bytes = some_bytes(20'000);
  die_with("a", bytes);
  std::filesystem::remove(slowfs_->path() / "a");
  EXPECT_TRUE(recover());  // there is nothing that it could do
  EXPECT_FALSE(std::filesystem::exists(slowfs_->path() / "a"));
  EXPECT_EQ(status().error, ESTALE);
  EXPECT_EQ(status().unsaved, bytes.size());
}

TEST_F(HomeFault, AFileReplacedBehindADeadProcessIsLeftAlone) {
  prepare();
  const auto bytes = some_bytes(20'000);
  die_with("a", bytes);
  // Made before the old one goes, so that it has another inode.
  std::ofstream(slowfs_->path() / "b") << "new";
  std::filesystem::rename(slowfs_->path() / "a", slowfs_->path() / "kept");
  std::filesystem::rename(slowfs_->path() / "b", slowfs_->path() / "a");
  (void)recover();
  EXPECT_EQ(at_home("a"), "new");
  EXPECT_EQ(status().error, ESTALE);
  // Back in its place, it gets what it is owed.
  std::filesystem::rename(slowfs_->path() / "kept", slowfs_->path() / "a");
  EXPECT_TRUE(recover());
  EXPECT_TRUE(at_home("a") == bytes);
}

TEST_F(HomeFault, AFileRemovedWhileOpenIsWrittenAsTheKernelWould) {
  prepare("drain.trigger=never");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  ASSERT_TRUE(put(*file, 0, some_bytes(20'000)));
  std::filesystem::remove(slowfs_->path() / "a");
  std::ofstream(slowfs_->path() / "a") << "new";
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(buffer->drain(20s));
  EXPECT_EQ(at_home("a"), "new");
}

TEST_F(HomeFault, ASymbolicLinkInPlaceOfADeadProcessesFileIsNotFollowed) {
  prepare();
  die_with("a", some_bytes(20'000));
  std::filesystem::rename(slowfs_->path() / "a", slowfs_->path() / "kept");
  std::ofstream(slowfs_->path() / "victim") << "victim";
  std::filesystem::create_symlink("victim", slowfs_->path() / "a");
  (void)recover();
  EXPECT_EQ(at_home("victim"), "victim");
}

}  // namespace
}  // namespace forebay::testing
