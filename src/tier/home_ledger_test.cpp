#include "tier/home_ledger.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

FileIdentity identity(std::uint64_t inode, std::string path = "/home/file") {
  return {1, inode, 7, std::move(path)};
}

class HomeLedgerTest : public ::testing::Test {
 protected:
  [[nodiscard]] HomeLedger open() const {
    return HomeLedger::open(directory_.fd(), Create::kIfMissing).value();
  }
  [[nodiscard]] Fd raw() const {
    return open_private_file(directory_.fd(), HomeLedger::kFileName, Create::kNever).value();
  }
  void write_raw(std::uint64_t position, const void* bytes, std::size_t size) const {
    ASSERT_TRUE(write_fully(raw().get(), bytes, size, position));
  }
  TemporaryDirectory directory_;
};

TEST_F(HomeLedgerTest, IsNotThereUntilMade) {
  EXPECT_EQ(HomeLedger::open(directory_.fd(), Create::kNever).error().code, ENOENT);
  const auto id = open().id();
  EXPECT_EQ(HomeLedger::open(directory_.fd(), Create::kNever)->id(), id);
}

TEST_F(HomeLedgerTest, AFileIsEnteredOnceWhoeverComes) {
  auto one = open();
  auto two = open();
  const auto a = one.enter(identity(10)).value();
  const auto b = one.enter(identity(11)).value();
  EXPECT_NE(a, b);
  EXPECT_EQ(two.enter(identity(10)), a);
  EXPECT_EQ(two.find(identity(11)).value(), b);
  EXPECT_EQ(two.find(identity(12)).value(), std::nullopt);
}

TEST_F(HomeLedgerTest, MarksOnlyRise) {
  auto one = open();
  auto two = open();
  const auto file = one.enter(identity(10)).value();
  EXPECT_EQ(one.home_seq(file), 0u);
  ASSERT_TRUE(one.mark_home(file, 20));
  ASSERT_TRUE(two.mark_home(file, 15));
  EXPECT_EQ(one.home_seq(file), 20u);
  ASSERT_TRUE(two.mark_home(file, 25));
  EXPECT_EQ(one.home_seq(file), 25u);
}

TEST_F(HomeLedgerTest, AReleasedPlaceIsAllHomeAndItsSuccessorIsAnother) {
  auto ledger = open();
  const auto first = ledger.enter(identity(10)).value();
  ASSERT_TRUE(ledger.release(first));
  EXPECT_EQ(ledger.home_seq(first), HomeLedger::kAllHome);
  const auto second = ledger.enter(identity(11)).value();
  EXPECT_EQ(second.place, first.place);
  EXPECT_NE(second.generation, first.generation);
  EXPECT_EQ(ledger.home_seq(first), HomeLedger::kAllHome);
  EXPECT_EQ(ledger.home_seq(second), 0u);
  EXPECT_TRUE(ledger.mark_home(first, 99)) << "nothing to do";
  EXPECT_TRUE(ledger.release(first)) << "nothing to do";
  EXPECT_EQ(ledger.home_seq(second), 0u);
}

TEST_F(HomeLedgerTest, FollowsARename) {
  auto ledger = open();
  const auto file = ledger.enter(identity(10, "/old")).value();
  ASSERT_TRUE(ledger.mark_home(file, 5));
  EXPECT_EQ(ledger.enter(identity(10, "/new")), file);
  const auto contents = ledger.contents().value();
  ASSERT_EQ(contents.entries.size(), 1u);
  EXPECT_EQ(contents.entries[0].identity.path, "/new");
  EXPECT_EQ(contents.entries[0].home_seq, 5u);
}

TEST_F(HomeLedgerTest, RefusesAPathThatDoesNotFit) {
  auto ledger = open();
  EXPECT_TRUE(ledger.enter(identity(10, std::string(kLedgerPathMost, 'x'))));
  EXPECT_EQ(ledger.enter(identity(11, std::string(kLedgerPathMost + 1, 'x'))).error().code, ENAMETOOLONG);
}

TEST_F(HomeLedgerTest, ATornChangeLeavesTheOldStateAtEveryByte) {
  auto ledger = open();
  const auto file = ledger.enter(identity(10)).value();
  ASSERT_TRUE(ledger.mark_home(file, 1));
  std::vector<char> before(8192);
  const auto position = ledger_position(file.place, 0);
  ASSERT_EQ(read_fully(raw().get(), before.data(), before.size(), position), before.size());
  ASSERT_TRUE(ledger.mark_home(file, 2));
  std::vector<char> after(8192);
  ASSERT_EQ(read_fully(raw().get(), after.data(), after.size(), position), after.size());
  for (std::size_t cut = 0; cut <= 8192; cut += cut % 4096 < 128 ? 1 : 61) {
    auto torn = before;
    std::memcpy(torn.data(), after.data(), cut);
    write_raw(position, torn.data(), torn.size());
    const auto seq = ledger.home_seq(file);
    ASSERT_TRUE(seq == 1u || seq == 2u) << cut;
    ASSERT_EQ(ledger.contents()->entries.size(), 1u) << cut;
  }
}

TEST_F(HomeLedgerTest, DamageIsSeenAndInDoubtNothingIsHome) {
  auto ledger = open();
  const auto file = ledger.enter(identity(10)).value();
  ASSERT_TRUE(ledger.mark_home(file, 2));
  EXPECT_TRUE(ledger.contents()->damaged.empty());
  write_raw(ledger_position(file.place, 0) + 50, "flip", 4);
  EXPECT_EQ(ledger.contents()->damaged, std::vector{file.place});
  write_raw(ledger_position(file.place, 1) + 50, "flip", 4);
  EXPECT_EQ(ledger.home_seq(file), 0u);
  EXPECT_EQ(ledger.mark_home(file, 9).error().code, EBADMSG);
  EXPECT_NE(ledger.enter(identity(11))->place, file.place) << "the true generation of that place is unknown";
}

TEST_F(HomeLedgerTest, OneCopyOfTheHeaderIsEnough) {
  const auto id = open().id();
  write_raw(0, "xxxx", 4);
  EXPECT_EQ(open().id(), id);
  write_raw(4096, "xxxx", 4);
  EXPECT_EQ(HomeLedger::open(directory_.fd(), Create::kIfMissing).error().code, EBADMSG);
}

TEST_F(HomeLedgerTest, ARemovedLedgerTakesNoNewFiles) {
  auto ledger = open();
  std::filesystem::remove(directory_.file(HomeLedger::kFileName));
  EXPECT_EQ(ledger.enter(identity(10)).error().code, ESTALE);
}

TEST_F(HomeLedgerTest, IsClearedOnlyWithoutJournals) {
  auto ledger = open();
  const auto file = ledger.enter(identity(10)).value();
  ASSERT_TRUE(open_private_file(directory_.fd(), "journal-0123456789abcdef", Create::kExclusive));
  ASSERT_TRUE(ledger.clear_if_unused(directory_.fd()));
  EXPECT_EQ(ledger.contents()->entries.size(), 1u);
  std::filesystem::remove(directory_.file("journal-0123456789abcdef"));
  ASSERT_TRUE(ledger.clear_if_unused(directory_.fd()));
  EXPECT_TRUE(ledger.contents()->entries.empty());
  EXPECT_EQ(ledger.home_seq(file), HomeLedger::kAllHome);
}

TEST_F(HomeLedgerTest, ThreadsAndHandlesExcludeEachOther) {
  auto one = open();
  auto two = open();
  const auto file = one.enter(identity(10)).value();
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto& ledger = t % 2 == 0 ? one : two;
      for (std::uint64_t i = 0; i < 20; ++i) {
        EXPECT_TRUE(ledger.mark_home(file, i * 4 + t + 1));
        EXPECT_EQ(ledger.enter(identity(100 + i))->generation, 1u);
        const auto seq = ledger.home_seq(file);
        EXPECT_TRUE(seq && *seq >= i * 4 + t + 1);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(one.home_seq(file), 80u);
  EXPECT_EQ(one.contents()->entries.size(), 21u);
}

}  // namespace
}  // namespace forebay
