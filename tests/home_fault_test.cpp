// Home that fails, hangs, fills up, forbids writing, or is changed behind our back: nothing staged is lost,
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

#include "base/log.hpp"
#include "engine/status.hpp"
#include "support/child.hpp"
#include "support/place.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;

std::string some_bytes(std::size_t size, unsigned seed = 1) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i + seed) * 2654435761u >> 13);
  return bytes;
}

Result<std::uint64_t> put(File& file, std::uint64_t at, const std::string& bytes) {
  return file.write(at, std::as_bytes(std::span(bytes)));
}

int code_of(const Status& status) { return status ? 0 : status.error().code; }

class HomeFault : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
    set_log_level(LogLevel::Off);
    slowfs_ = std::make_unique<SlowfsMount>();
  }
  // A buffer of 16 + 32 buckets of 4 KiB before a slowfs.
  void prepare(const std::string& overrides = "drain.delay=1ms") {
    place_.emplace(PlaceOptions{.overrides = overrides, .home = slowfs_->path()});
  }
  std::shared_ptr<File> open(Buffer& buffer, const std::string& name, int flags = O_RDWR | O_CREAT) {
    auto file = buffer.open(place_->home(name), flags);
    if (!file) throw std::runtime_error(file.error().message);
    return *file;
  }
  std::string at_home(const std::string& name) const { return Place::slurp(slowfs_->source() / name); }
  // What status says of the only file.
  FileStatus status() const {
    const auto seen = look_at_buffer(place_->settings());
    if (!seen) throw std::runtime_error(seen.error().message);
    for (const auto& file : seen->files) return file;
    return {};
  }
  // A process that stages `bytes` in a new file and is killed before anything went home.
  void die_with(const std::string& name, const std::string& bytes) {
    Child child([&] {
      auto buffer = place_->attach();
      buffer->pause_drain(true);
      auto file = open(*buffer, name);
      if (!put(*file, 0, bytes)) return 1;
      ::kill(::getpid(), SIGKILL);
      return 2;
    });
    const auto status = child.wait(20s);
    ASSERT_TRUE(status && Child::was_killed(*status));
  }
  // What `forebay recover` would say.
  Status recover() {
    auto buffer = place_->attach();
    buffer->recover();
    return buffer->drain(20s);
  }

  std::unique_ptr<SlowfsMount> slowfs_;
  std::optional<Place> place_;
};

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

TEST_F(HomeFault, AHangEndsWithAnErrorAndTheBytesGoHomeAfterwards) {
  prepare("drain.trigger=never limits.home_wait=300ms");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(30'000);
  slowfs_->control("hang=writes");
  ASSERT_TRUE(put(*file, 0, bytes));
  EXPECT_EQ(code_of(file->sync()), ETIMEDOUT);
  EXPECT_EQ(status().error, ETIMEDOUT) << "nobody can see that home does not answer";
  EXPECT_TRUE(put(*file, 0, bytes)) << "who waited has been told";
  std::string back(bytes.size(), '?');
  ASSERT_TRUE(file->read(0, std::as_writable_bytes(std::span(back))));
  EXPECT_TRUE(back == bytes);
  slowfs_->control("hang=none");
  for (int i = 0; i < 100 && !file->sync(); ++i) {
  }
  EXPECT_TRUE(at_home("a") == bytes);
  EXPECT_EQ(status().error, 0);
  EXPECT_TRUE(file->close());
}

TEST_F(HomeFault, AHangDoesNotHoldAFlushOfManyPieces) {
  // More pieces than may be under way at a time: the flush must not wait for a place without end.
  prepare("drain.trigger=never limits.home_wait=300ms drain.in_flight=1 drain.write_size=64KiB");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(100);
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(put(*file, i * 20'000, bytes));
  slowfs_->control("hang=writes");
  EXPECT_EQ(code_of(file->sync()), ETIMEDOUT);
  slowfs_->control("hang=none");
  for (int i = 0; i < 100 && !file->sync(); ++i) {
  }
  EXPECT_TRUE(file->close());
  for (std::size_t i = 0; i < 10; ++i) EXPECT_TRUE(at_home("a").substr(i * 20'000, 100) == bytes);
}

TEST_F(HomeFault, AHangDoesNotHoldWhoLeavesAndTheBytesStay) {
  prepare("drain.trigger=never limits.home_wait=300ms");
  const auto bytes = some_bytes(30'000);
  Child child([&] {
    auto buffer = place_->attach();
    auto file = open(*buffer, "a");
    slowfs_->control("hang=writes");
    if (!put(*file, 0, bytes)) return 1;
    // Some calls hang in the background already.
    if (code_of(file->sync()) != ETIMEDOUT) return 2;
    const auto left = buffer->detach();
    buffer.reset();
    return code_of(left) == ETIMEDOUT ? 0 : 3;
  });
  const auto ended = child.wait(30s);
  ASSERT_TRUE(ended) << "it waits for home without end";
  EXPECT_TRUE(Child::was_well(*ended)) << *ended;
  EXPECT_EQ(status().unsaved, bytes.size());
  slowfs_->control("hang=none");
  EXPECT_TRUE(recover());
  EXPECT_TRUE(at_home("a") == bytes);
}

TEST_F(HomeFault, AHangDoesNotHoldWhoLeavesOverAReadAhead) {
  prepare("limits.home_wait=300ms");
  std::ofstream(slowfs_->source() / "a") << std::string(1u << 20, 'x');
  Child child([&] {
    auto buffer = place_->attach();
    auto file = open(*buffer, "a", O_RDONLY);
    slowfs_->control("hang=all");
    const auto ticket = file->prefetch(0, 1u << 20);
    if (!slowfs_->wait_for_stat("read", "in_flight", 1)) return 1;
    if (!buffer->detach()) return 2;
    buffer.reset();
    std::ofstream(place_->disk("left")) << "it has";
    return 0;
  });
  bool left = false;
  for (int i = 0; i < 4000 && !left; ++i) {
    left = std::filesystem::exists(place_->disk("left"));
    std::this_thread::sleep_for(5ms);
  }
  // The system closes the file at home, which waits as well.
  slowfs_->control("hang=none");
  EXPECT_TRUE(left) << "it waits for home without end";
  EXPECT_TRUE(child.finished());
}

TEST_F(HomeFault, AHangDoesNotHoldWhoFindsWhatADeadProcessLeft) {
  prepare("limits.home_wait=300ms");
  const auto bytes = some_bytes(50'000);
  die_with("a", bytes);
  slowfs_->control("hang=all");
  Child child([&] {
    auto buffer = place_->attach();
    (void)buffer->detach();
    return 0;
  });
  const auto ended = child.wait(30s);
  slowfs_->control("hang=none");
  ASSERT_TRUE(ended) << "it waits for home without end";
  EXPECT_TRUE(Child::was_well(*ended)) << *ended;
  EXPECT_EQ(status().unsaved, bytes.size());
  EXPECT_TRUE(recover());
  EXPECT_TRUE(at_home("a") == bytes);
}

TEST_F(HomeFault, ATruncationThatWaitsForHomeIsWaitedForByThoseWhoOpen) {
  prepare("drain.trigger=never limits.lock_wait=500ms");
  Child child([&] {
    auto buffer = place_->attach();
    auto file = open(*buffer, "a");
    if (!put(*file, 0, some_bytes(20'000))) return 1;
    slowfs_->control("hang=writes,3s");
    std::thread carrying([&] { (void)file->sync(); });
    bool cut = slowfs_->wait_for_stat("write", "in_flight", 1);
    if (cut) cut = file->truncate(0).has_value();
    carrying.join();
    return cut ? 0 : 2;
  });
  const auto truncating = [&] {
    const auto seen = look_at_buffer(place_->settings());
    return seen && !seen->files.empty() && seen->files.front().truncating;
  };
  for (int i = 0; i < 2000 && !truncating(); ++i) std::this_thread::sleep_for(2ms);
  ASSERT_TRUE(truncating());
  auto buffer = place_->attach();
  const auto file = buffer->open(place_->home("a"), O_RDWR);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->append(std::as_bytes(std::span("x", 1))), 0u);
  EXPECT_TRUE(child.finished());
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

TEST_F(HomeFault, ASlowHomeIsWaitedForAsLongAsBytesArrive) {
  // All together takes far longer than limits.home_wait, which is about silence.
  prepare("drain.trigger=never limits.home_wait=2s");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(4096);
  for (std::uint64_t i = 0; i < 12; ++i) ASSERT_TRUE(put(*file, i * 8192, bytes));
  slowfs_->control("write_bandwidth=8KiB");
  EXPECT_EQ(code_of(file->close()), 0);
  slowfs_->control("write_bandwidth=0");
  EXPECT_EQ(at_home("a").size(), 11u * 8192 + 4096);
}

TEST_F(HomeFault, ASlowHomeIsWaitedForWhoeverSendsTheBytes) {
  prepare("drain.trigger=never limits.home_wait=2s drain.in_flight=12");
  std::ofstream(slowfs_->source() / "a") << std::string(100'000, 'x');
  Child child([&] {
    auto buffer = place_->attach();
    auto file = open(*buffer, "a");
    const auto bytes = some_bytes(4096);
    for (std::uint64_t i = 0; i < 12; ++i) {
      if (!put(*file, i * 8192, bytes)) return 1;
    }
    slowfs_->control("write_bandwidth=8KiB");
    return code_of(file->sync());
  });
  EXPECT_TRUE(slowfs_->wait_for_stat("write", "in_flight", 6));
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  EXPECT_EQ(code_of(file->sync()), 0);
  for (std::uint64_t i = 0; i < 12; ++i) EXPECT_TRUE(at_home("a").substr(i * 8192, 4096) == some_bytes(4096));
  EXPECT_TRUE(child.finished());
}

TEST_F(HomeFault, WaitingForDrainRateIsNotSilence) {
  prepare("drain.trigger=never limits.home_wait=500ms drain.rate=64KiB/s drain.write_size=64KiB");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  ASSERT_TRUE(put(*file, 0, some_bytes(180'000)));
  EXPECT_EQ(code_of(file->close()), 0);
  EXPECT_TRUE(at_home("a") == some_bytes(180'000));
}

TEST_F(HomeFault, PiecesOfNeighbouringBlocksGoHomeBesideEachOther) {
  prepare("drain.trigger=never drain.in_flight=8");
  // Long enough: writes that extend a file go one by one whatever we do.
  std::ofstream(slowfs_->source() / "a") << std::string(65'536, 'x');
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(100);
  for (std::uint64_t i = 0; i < 32; ++i) ASSERT_TRUE(put(*file, i * 2048, bytes));
  slowfs_->control("hang=writes");
  std::thread waiting([&] { EXPECT_TRUE(file->sync()); });
  EXPECT_TRUE(slowfs_->wait_for_stat("write", "in_flight", 4));
  slowfs_->control("hang=none");
  waiting.join();
  EXPECT_TRUE(file->close());
  for (std::size_t i = 0; i < 32; ++i) EXPECT_TRUE(at_home("a").substr(i * 2048, 100) == bytes);
}

// One piece after the other went home of each block, by one thread, however many there were.
TEST_F(HomeFault, PiecesOfOneBlockGoHomeBesideEachOther) {
  prepare("drain.trigger=never drain.in_flight=4");
  std::ofstream(slowfs_->source() / "a") << std::string(65'536, 'x');
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(16);
  for (std::uint64_t i = 0; i < 32; ++i) ASSERT_TRUE(put(*file, i * 128, bytes));
  slowfs_->control("hang=writes");
  std::thread waiting([&] { EXPECT_TRUE(file->sync()); });
  EXPECT_TRUE(slowfs_->wait_for_stat("write", "in_flight", 8)) << "more than large ones";
  EXPECT_EQ(status().unsaved, 32 * bytes.size()) << "one that has not ended is settled";
  slowfs_->control("hang=none");
  waiting.join();
  EXPECT_EQ(status().unsaved, 0u);
  EXPECT_TRUE(file->close());
  for (std::size_t i = 0; i < 32; ++i) EXPECT_TRUE(at_home("a").substr(i * 128, 16) == bytes);
}

TEST_F(HomeFault, OneOfManyPiecesOfABlockThatFailsKeepsThemAll) {
  prepare("drain.trigger=never drain.in_flight=4");
  std::ofstream(slowfs_->source() / "a") << std::string(65'536, 'x');
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  const auto bytes = some_bytes(16);
  for (std::uint64_t i = 0; i < 32; ++i) ASSERT_TRUE(put(*file, i * 128, bytes));
  slowfs_->control("fail_nth_write=7,EIO");
  EXPECT_EQ(code_of(file->sync()), EIO);
  EXPECT_EQ(status().unsaved, 32 * bytes.size());
  slowfs_->control("fail_nth_write=none");
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
  for (std::size_t i = 0; i < 32; ++i) EXPECT_TRUE(at_home("a").substr(i * 128, 16) == bytes);
}

TEST_F(HomeFault, WhoLeavesDoesNotBringWhatItAskedForAhead) {
  prepare("drain.in_flight=1 readahead.max=0");
  std::ofstream(slowfs_->source() / "a") << std::string(3u << 20, 'x');
  auto buffer = place_->attach();
  auto file = open(*buffer, "a", O_RDONLY);
  slowfs_->control("hang=all");
  const auto ticket = file->prefetch(0, 3u << 20);
  ASSERT_TRUE(slowfs_->wait_for_stat("read", "in_flight", 1));
  std::thread leaving([&] { EXPECT_TRUE(buffer->detach()); });
  for (int i = 0; i < 2000 && buffer->attached(); ++i) std::this_thread::sleep_for(5ms);
  slowfs_->control("hang=none");
  leaving.join();
  const auto came = ticket.wait(10s);
  ASSERT_FALSE(came);
  EXPECT_EQ(came.error().code, ECANCELED);
}

TEST_F(HomeFault, WritesWithoutRoomFailWhileHomeHangsAndNothingIsLost) {
  prepare("drain.delay=0s limits.home_wait=200ms pressure.wait=100ms");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  slowfs_->control("hang=writes,3s");
  // Far more than the tiers hold. What is refused is written again: as an application would.
  std::string expected;
  for (unsigned i = 0; i < 40; ++i) {
    const auto bytes = some_bytes(12'288, i);
    std::uint64_t done = 0;
    for (int attempt = 0; done < bytes.size() && attempt < 10'000; ++attempt) {
      const auto taken = put(*file, expected.size() + done, bytes.substr(done));
      if (taken) done += *taken;
    }
    ASSERT_EQ(done, bytes.size());
    expected += bytes;
  }
  for (int i = 0; i < 100 && !file->sync(); ++i) {
  }
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(at_home("a") == expected);
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
