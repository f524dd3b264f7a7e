#include "tier/replay.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "os/private_file.hpp"
#include "os/temporary_directory.hpp"
#include "tier/journal.hpp"
#include "tier/journal_directory.hpp"
#include "tier/journal_format.hpp"
#include "tier/memory_home.hpp"

namespace forebay {
namespace {

class ReplayTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Journal> create() const {
    return Journal::create(directory_.fd(), kJournalSizeLeast, Journal::Medium::kFile).value();
  }
  [[nodiscard]] static FileIdentity identity(std::uint64_t inode, std::uint64_t device = 1) {
    return {device, inode, 7, "/home/" + std::to_string(inode)};
  }
  ReplayReport replay_all() { return replay(directory_.fd(), home_).value(); }
  [[nodiscard]] std::map<std::string, int> names() const {
    std::map<std::string, int> kinds;
    const auto found = list_names(directory_.fd()).value();
    for (const auto& name : found) {
      if (!name.starts_with('.')) ++kinds[name.substr(0, name.find('-') + 1)];
    }
    return kinds;
  }
  void flip(const std::string& path, std::uint64_t position) const {
    const Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    char byte = 0;
    ASSERT_EQ(read_fully(fd.get(), &byte, 1, position), 1u);
    byte = static_cast<char>(~byte);
    ASSERT_TRUE(write_fully(fd.get(), &byte, 1, position));
  }
  // Of the first segment, whose records lie in a block each.
  static constexpr auto kSecondPayload = kJournalHeaderSize + kSegmentMarkSize + 4096 + sizeof(RecordHeader);
  TemporaryDirectory directory_;
  MemoryHome home_;
};

TEST_F(ReplayTest, NothingToDo) {
  const auto report = replay_all();
  EXPECT_EQ(report.journals + report.living + report.files, 0u);
  EXPECT_TRUE(report.remarks.empty());
}

TEST_F(ReplayTest, JournalsOfSeveralProcessesMergeBySeq) {
  auto one = create();
  auto two = create();
  const auto file = one->add_file(identity(10)).value();
  ASSERT_EQ(two->add_file(identity(10)), file);
  ASSERT_TRUE(one->append(file, 1, 0, bytes_of("1111")));
  ASSERT_TRUE(two->append(file, 2, 1, bytes_of("222")));
  ASSERT_TRUE(one->append(file, 3, 2, bytes_of("33")));
  ASSERT_TRUE(two->append(file, 4, 3, bytes_of("4")));
  one.reset();
  two.reset();
  const auto report = replay_all();
  EXPECT_EQ(home_.text(10), "1234");
  EXPECT_EQ(report.journals, 2u);
  EXPECT_EQ(report.files, 1u);
}

// One process logged old bytes, another one newer bytes, which it carried home before it ended.
TEST_F(ReplayTest, OldBytesNeverOverwriteWhatAnotherProcessBroughtHome) {
  auto one = create();
  auto two = create();
  const auto file = one->add_file(identity(10)).value();
  ASSERT_TRUE(one->append(file, 1, 0, bytes_of("old")));
  ASSERT_TRUE(two->append(file, 2, 0, bytes_of("new")));
  home_.files[10] = {std::byte{'n'}, std::byte{'e'}, std::byte{'w'}};
  ASSERT_TRUE(two->mark_home(file, 2));
  ASSERT_TRUE(two->remove());
  one.reset();
  const auto report = replay_all();
  EXPECT_EQ(home_.text(10), "new");
  EXPECT_EQ(report.already_home, 1u);
  EXPECT_EQ(report.journals, 1u);
}

TEST_F(ReplayTest, AFileThatDoesNotGetHomeStaysAndOnlyThatOne) {
  auto journal = create();
  const auto good = journal->add_file(identity(10)).value();
  const auto bad = journal->add_file(identity(11)).value();
  ASSERT_TRUE(journal->append(good, 1, 0, bytes_of("good")));
  ASSERT_TRUE(journal->append(bad, 2, 0, bytes_of("bad")));
  journal.reset();
  home_.missing = {11};
  auto report = replay_all();
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].file.inode, 11u);
  EXPECT_EQ(report.failures[0].error.code, ENOENT);
  EXPECT_EQ(names()["journal-"], 1);
  // Newer bytes reach home by another way: what is home already must not come again.
  home_.files[10] = {std::byte{'N'}};
  home_.missing.clear();
  report = replay_all();
  EXPECT_EQ(home_.text(10), "N");
  EXPECT_EQ(home_.text(11), "bad");
  EXPECT_EQ(names()["journal-"], 0);
}

TEST_F(ReplayTest, AFileWhoseDeviceChangedItsNumberIsStillOneFile) {
  auto journal = create();
  const auto before = journal->add_file(identity(10, 1)).value();
  const auto after = journal->add_file(identity(10, 2)).value();
  ASSERT_NE(before, after);
  ASSERT_TRUE(journal->append(before, 1, 0, bytes_of("111")));
  ASSERT_TRUE(journal->append(after, 2, 0, bytes_of("22")));
  ASSERT_TRUE(journal->append(before, 3, 0, bytes_of("3")));
  journal.reset();
  const auto report = replay_all();
  EXPECT_EQ(home_.text(10), "321");
  EXPECT_EQ(report.files, 1u);
}

TEST_F(ReplayTest, DamageIsReportedAndTheFileKeptForPeople) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    ASSERT_TRUE(journal->append(file, seq, seq - 1, bytes_of(std::string(1, static_cast<char>('0' + seq)))));
  }
  const auto path = journal->path();
  journal.reset();
  flip(path, kSecondPayload);
  const auto report = replay_all();
  EXPECT_EQ(home_.text(10), std::string("1\0003", 3));
  EXPECT_EQ(report.refused, 1u);
  EXPECT_FALSE(report.remarks.empty());
  EXPECT_EQ(names()["journal-"], 0);
  EXPECT_EQ(names()["damaged-"], 1);
}

TEST_F(ReplayTest, ATornEndIsNoDamage) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("1")));
  ASSERT_TRUE(journal->append(file, 2, 1, bytes_of("2")));
  const auto path = journal->path();
  journal.reset();
  flip(path, kSecondPayload);
  const auto report = replay_all();
  EXPECT_EQ(home_.text(10), "1");
  EXPECT_EQ(report.torn, 1u);
  EXPECT_EQ(report.refused, 0u);
  EXPECT_EQ(names()["damaged-"], 0);
}

TEST_F(ReplayTest, WithoutALedgerNothingIsReplayed) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("x")));
  journal.reset();
  std::filesystem::remove(directory_.file(HomeLedger::kFileName));
  const auto report = replay_all();
  EXPECT_EQ(report.refused, 1u);
  EXPECT_TRUE(home_.files.empty());
  EXPECT_EQ(names()["damaged-"], 1);
}

TEST_F(ReplayTest, AnotherLedgerIsNotTheirs) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("x")));
  journal.reset();
  std::filesystem::remove(directory_.file(HomeLedger::kFileName));
  ASSERT_TRUE(HomeLedger::open(directory_.fd(), Create::kIfMissing)->enter(identity(11)));
  const auto report = replay_all();
  EXPECT_EQ(report.refused, 1u);
  EXPECT_TRUE(home_.files.empty());
}

TEST_F(ReplayTest, ADamagedLedgerMakesRoomForANewOne) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("x")));
  journal.reset();
  flip(directory_.file(HomeLedger::kFileName), 0);
  flip(directory_.file(HomeLedger::kFileName), 4096);
  const auto report = replay_all();
  EXPECT_EQ(report.refused, 1u);
  EXPECT_EQ(names()["damaged-"], 2);
  EXPECT_TRUE(create()->add_file(identity(10)));
}

TEST_F(ReplayTest, StrangersInTheDirectoryAreNotTouched) {
  ASSERT_TRUE(open_private_file(directory_.fd(), "journal-notes.txt", Create::kIfMissing));
  std::filesystem::create_symlink("/etc/passwd", directory_.file("journal-0000000000000001"));
  ASSERT_TRUE(create());
  const auto report = replay_all();
  EXPECT_GE(report.remarks.size(), 2u);
  EXPECT_TRUE(std::filesystem::exists("/etc/passwd"));
  EXPECT_EQ(names()["damaged-"], 1);
}

TEST_F(ReplayTest, AnUnbornJournalIsRemoved) {
  ASSERT_TRUE(open_private_file(directory_.fd(), "forming-0000000000000001", Create::kIfMissing));
  replay_all();
  EXPECT_EQ(names()["forming-"], 0);
}

TEST_F(ReplayTest, OneAtATime) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("x")));
  journal.reset();
  MemoryHome other;
  home_.before_end = [&] { EXPECT_EQ(replay(directory_.fd(), other).error().code, EBUSY); };
  replay_all();
  EXPECT_EQ(home_.text(10), "x");
  EXPECT_TRUE(other.files.empty());
}

TEST_F(ReplayTest, FinishedJournalsOfDeadProcessesAreRemovedWithoutReplay) {
  auto done = create();
  auto not_done = create();
  const auto one = done->add_file(identity(10)).value();
  const auto two = done->add_file(identity(11)).value();
  ASSERT_TRUE(done->append(one, 1, 0, bytes_of("1")));
  ASSERT_TRUE(not_done->append(two, 2, 0, bytes_of("2")));
  done.reset();
  not_done.reset();
  EXPECT_EQ(remove_finished_journals(directory_.fd()), 2u);
  // The survivors drained the buffer.
  ASSERT_TRUE(HomeLedger::open(directory_.fd(), Create::kNever)->mark_home(one, 1));
  EXPECT_EQ(remove_finished_journals(directory_.fd()), 1u);
  EXPECT_EQ(names()["journal-"], 1);
  replay_all();
  EXPECT_EQ(home_.text(11), "2");
  EXPECT_TRUE(home_.text(10).empty());
}

TEST_F(ReplayTest, TheLedgerIsEmptyAfterwards) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("x")));
  journal.reset();
  replay_all();
  EXPECT_TRUE(HomeLedger::open(directory_.fd(), Create::kNever)->contents()->entries.empty());
}

}  // namespace
}  // namespace forebay
