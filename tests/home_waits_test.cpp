// Home that is slow or hangs: who waits for it does so as long as bytes arrive, and no longer; and what can
// go there at one time does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "support/slow_home.hpp"

namespace forebay::testing {
namespace {

using HomeWaits = SlowHome;

TEST_F(HomeWaits, AHangEndsWithAnErrorAndTheBytesGoHomeAfterwards) {
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

TEST_F(HomeWaits, AHangDoesNotHoldAFlushOfManyPieces) {
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

TEST_F(HomeWaits, AHangDoesNotHoldWhoLeavesAndTheBytesStay) {
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

TEST_F(HomeWaits, AHangDoesNotHoldWhoLeavesOverAReadAhead) {
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

TEST_F(HomeWaits, AHangDoesNotHoldWhoFindsWhatADeadProcessLeft) {
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

TEST_F(HomeWaits, ATruncationThatWaitsForHomeIsWaitedForByThoseWhoOpen) {
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

TEST_F(HomeWaits, ASlowHomeIsWaitedForAsLongAsBytesArrive) {
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

TEST_F(HomeWaits, ASlowHomeIsWaitedForWhoeverSendsTheBytes) {
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

TEST_F(HomeWaits, WaitingForDrainRateIsNotSilence) {
  prepare("drain.trigger=never limits.home_wait=500ms drain.rate=64KiB/s drain.write_size=64KiB");
  auto buffer = place_->attach();
  auto file = open(*buffer, "a");
  ASSERT_TRUE(put(*file, 0, some_bytes(180'000)));
  EXPECT_EQ(code_of(file->close()), 0);
  EXPECT_TRUE(at_home("a") == some_bytes(180'000));
}

TEST_F(HomeWaits, PiecesOfNeighbouringBlocksGoHomeBesideEachOther) {
  prepare("drain.trigger=never drain.in_flight=8");
  auto buffer = place_->attach();
  const auto bytes = some_bytes(100);
  const auto file = open_with_pieces(*buffer, 2048, bytes);
  slowfs_->control("hang=writes");
  std::thread waiting([&] { EXPECT_TRUE(file->sync()); });
  EXPECT_TRUE(slowfs_->wait_for_stat("write", "in_flight", 4));
  slowfs_->control("hang=none");
  waiting.join();
  EXPECT_TRUE(file->close());
  expect_pieces_at_home(2048, bytes);
}

// One piece after the other went home of each block, by one thread, however many there were.
TEST_F(HomeWaits, PiecesOfOneBlockGoHomeBesideEachOther) {
  prepare("drain.trigger=never drain.in_flight=4");
  auto buffer = place_->attach();
  const auto bytes = some_bytes(16);
  const auto file = open_with_pieces(*buffer, 128, bytes);
  slowfs_->control("hang=writes");
  std::thread waiting([&] { EXPECT_TRUE(file->sync()); });
  EXPECT_TRUE(slowfs_->wait_for_stat("write", "in_flight", 8)) << "more than large ones";
  EXPECT_EQ(status().unsaved, kPieces * bytes.size()) << "one that has not ended is settled";
  slowfs_->control("hang=none");
  waiting.join();
  EXPECT_EQ(status().unsaved, 0u);
  EXPECT_TRUE(file->close());
  expect_pieces_at_home(128, bytes);
}

TEST_F(HomeWaits, WhoLeavesDoesNotBringWhatItAskedForAhead) {
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

TEST_F(HomeWaits, WritesWithoutRoomFailWhileHomeHangsAndNothingIsLost) {
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

}  // namespace
}  // namespace forebay::testing
