#include "tier/journal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "os/fd.hpp"
#include "os/mapping.hpp"
#include "os/private_file.hpp"
#include "os/temporary_directory.hpp"
#include "tier/journal_format.hpp"
#include "tier/journal_reader.hpp"
#include "tier/memory_home.hpp"
#include "tier/replay.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kSmall = kJournalSizeLeast;
constexpr std::uint64_t kLarge = 4 << 20;

class JournalTest : public ::testing::TestWithParam<Journal::Medium> {
 protected:
  [[nodiscard]] std::unique_ptr<Journal> create(std::uint64_t size = kSmall) const {
    return Journal::create(directory_.fd(), size, GetParam()).value();
  }
  [[nodiscard]] static FileIdentity identity(std::uint64_t inode) {
    return {1, inode, 7, "/home/" + std::to_string(inode)};
  }
  ReplayReport replay_all() {
    auto report = replay(directory_.fd(), home_).value();
    for (const auto& words : report.remarks) GTEST_LOG_(INFO) << words;
    return report;
  }
  [[nodiscard]] std::size_t journals() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path().filename().string().starts_with("journal-")) ++count;
    }
    return count;
  }
  TemporaryDirectory directory_;
  MemoryHome home_;
};

TEST_P(JournalTest, WhatWasAppendedComesHomeInOrder) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("aaaaaaaa")));
  ASSERT_TRUE(journal->append(file, 3, 4, bytes_of("cc")));
  ASSERT_TRUE(journal->append(file, 2, 3, bytes_of("bbbb")));
  journal.reset();
  const auto report = replay_all();
  EXPECT_EQ(home_.text(10), "aaabccba");
  EXPECT_EQ(home_.paths, std::vector<std::string>{"/home/10"});
  EXPECT_EQ(report.records, 3u);
  EXPECT_EQ(report.bytes, 14u);
  EXPECT_EQ(report.highest_seq, 3u);
  EXPECT_EQ(report.refused + report.torn, 0u);
  EXPECT_EQ(journals(), 0u);
  EXPECT_EQ(replay_all().journals, 0u);
}

TEST_P(JournalTest, TruncationTakesItsPlaceInTheOrder) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("abcdefgh")));
  ASSERT_TRUE(journal->truncate(file, 2, 3));
  ASSERT_TRUE(journal->append(file, 3, 5, bytes_of("z")));
  journal.reset();
  replay_all();
  EXPECT_EQ(home_.text(10), std::string("abc\0\0z", 6));
}

TEST_P(JournalTest, WhatIsHomeIsNotReplayed) {
  auto journal = create();
  const auto one = journal->add_file(identity(10)).value();
  const auto two = journal->add_file(identity(11)).value();
  ASSERT_TRUE(journal->append(one, 1, 0, bytes_of("old")));
  ASSERT_TRUE(journal->append(two, 2, 0, bytes_of("two")));
  ASSERT_TRUE(journal->mark_home(one, 1));
  ASSERT_TRUE(journal->append(one, 3, 1, bytes_of("N")));
  home_.files[10] = MemoryHome::Bytes(3, std::byte{'x'});
  journal.reset();
  const auto report = replay_all();
  EXPECT_EQ(home_.text(10), "xNx");
  EXPECT_EQ(home_.text(11), "two");
  EXPECT_EQ(report.already_home, 1u);
}

TEST_P(JournalTest, LargeWritesAreSplitAndComplete) {
  auto journal = create(kLarge * 4);
  const auto file = journal->add_file(identity(10)).value();
  std::string large(5 << 20, '\0');
  std::minstd_rand random(1);
  for (auto& byte : large) byte = static_cast<char>(random());
  ASSERT_TRUE(journal->append(file, 1, 3, bytes_of(large)));
  journal.reset();
  replay_all();
  EXPECT_EQ(home_.text(10), std::string(3, '\0') + large);
}

TEST_P(JournalTest, AFullLogSaysSoAndIsUsedAgainOnceFilesAreHome) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  const std::string block(3000, 'x');
  std::uint64_t seq = 0;
  for (int lap = 0; lap < 5; ++lap) {
    Status status;
    int appended = 0;
    for (;;) {
      ++seq;
      status = journal->append(file, seq, seq * 10, bytes_of(block));
      if (!status) break;
      ASSERT_LT(++appended, 1000);
    }
    ASSERT_EQ(status.error().code, ENOSPC) << status.error().message;
    EXPECT_GE(appended, 8) << "lap " << lap;
    EXPECT_LT(journal->room(), 8192u);
    EXPECT_EQ(journal->unfinished(), std::vector{file});
    EXPECT_EQ(journal->remove().error().code, EBUSY);
    ASSERT_TRUE(journal->mark_home(file, seq));
    EXPECT_TRUE(journal->unfinished().empty());
    EXPECT_GE(journal->room(), 7 * (kSegmentSizeLeast - kSegmentMarkSize));
  }
  ASSERT_TRUE(journal->append(file, ++seq, 0, bytes_of("last")));
  journal.reset();
  const auto report = replay_all();
  EXPECT_EQ(report.records, 1u) << "of earlier laps nothing is replayed";
  EXPECT_EQ(home_.text(10), "last");
}

TEST_P(JournalTest, OneFileThatIsNotHomeDoesNotBlockTheRest) {
  auto journal = create();
  const auto stuck = journal->add_file(identity(10)).value();
  const auto moving = journal->add_file(identity(11)).value();
  ASSERT_TRUE(journal->append(stuck, 1, 0, bytes_of("stuck")));
  const std::string block(3000, 'x');
  for (std::uint64_t seq = 2; seq < 200; ++seq) {
    ASSERT_TRUE(journal->append(moving, seq, 0, bytes_of(block))) << seq;
    ASSERT_TRUE(journal->mark_home(moving, seq));
  }
  journal.reset();
  EXPECT_EQ(replay_all().records, 1u);
  EXPECT_EQ(home_.text(10), "stuck");
}

TEST_P(JournalTest, AMarkCoversWhatItSaysAndNoMore) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("a")));
  ASSERT_TRUE(journal->append(file, 2, 1, bytes_of("b")));
  ASSERT_TRUE(journal->mark_home(file, 1));
  EXPECT_EQ(journal->unfinished(), std::vector{file});
  EXPECT_EQ(journal->remove().error().code, EBUSY);
  ASSERT_TRUE(journal->mark_home(file, 2));
  EXPECT_TRUE(journal->unfinished().empty());
}

TEST_P(JournalTest, AReleasedFileKeepsNothingBusy) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 5, 0, bytes_of("a")));
  ASSERT_TRUE(journal->release_file(file));
  EXPECT_TRUE(journal->unfinished().empty());
  const auto again = journal->add_file(identity(10)).value();
  EXPECT_NE(again, file);
  ASSERT_TRUE(journal->append(again, 6, 0, bytes_of("b")));
  journal.reset();
  const auto report = replay_all();
  EXPECT_EQ(report.records, 1u);
  EXPECT_EQ(report.already_home, 1u);
  EXPECT_EQ(home_.text(10), "b");
}

TEST_P(JournalTest, AWriteLargerThanTheLogIsRefused) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("small")));
  EXPECT_EQ(journal->append(file, 2, 0, bytes_of(std::string(200'000, 'x'))).error().code, ENOSPC);
  ASSERT_TRUE(journal->mark_home(file, 2));
  EXPECT_TRUE(journal->append(file, 3, 0, bytes_of("goes on")));
}

TEST_P(JournalTest, ManyThreadsAppendAtOnce) {
  auto journal = create(kLarge);
  const auto file = journal->add_file(identity(10)).value();
  constexpr unsigned kThreads = 8;
  constexpr unsigned kEach = 50;
  std::atomic<std::uint64_t> seq{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < kEach; ++i) {
        const std::string text(100 + 37 * i, static_cast<char>('a' + t));
        EXPECT_TRUE(journal->append(file, ++seq, (t * kEach + i) * 4096, bytes_of(text)));
      }
    });
  }
  threads.clear();
  journal.reset();
  EXPECT_EQ(replay_all().records, kThreads * kEach);
  for (unsigned t = 0; t < kThreads; ++t) {
    for (unsigned i = 0; i < kEach; ++i) {
      const std::string text(100 + 37 * i, static_cast<char>('a' + t));
      EXPECT_EQ(home_.text(10).substr((t * kEach + i) * 4096, text.size()), text);
    }
  }
}

// Power loss at that moment: the copy is not even taken at one instant.
TEST_P(JournalTest, ACopyHoldsEverythingThatWasAcknowledgedBefore) {
  auto journal = create(kLarge);
  const auto file = journal->add_file(identity(10)).value();
  std::array<std::atomic<std::uint64_t>, 4> acknowledged{};
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 1; i <= 100 && !stop; ++i) {
        EXPECT_TRUE(journal->append(file, i * 4 + t, 0, bytes_of(std::string(100 + i * 50, 'x'))));
        acknowledged[t] = i;
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    std::array<std::uint64_t, 4> before{};
    for (std::size_t t = 0; t < 4; ++t) before[t] = acknowledged[t];
    const auto copy = directory_.file("copy");
    std::filesystem::copy_file(journal->path(), copy, std::filesystem::copy_options::overwrite_existing);
    const Fd fd(::open(copy.c_str(), O_RDONLY | O_CLOEXEC));
    const auto contents = read_journal(fd.get(), copy).value();
    std::set<std::uint64_t> found;
    for (const auto& record : contents.records) found.insert(record.seq);
    for (std::uint64_t t = 0; t < 4; ++t) {
      for (std::uint64_t i = 1; i <= before[t]; ++i) ASSERT_TRUE(found.contains(i * 4 + t)) << t << " " << i;
    }
  }
  stop = true;
}

TEST_P(JournalTest, ThreadsGoOnThroughFullAndHome) {
  auto journal = create();
  std::vector<JournalFile> files;
  for (std::uint64_t i = 0; i < 4; ++i) files.push_back(journal->add_file(identity(10 + i)).value());
  std::atomic<std::uint64_t> full{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t seq = 1; seq <= 100; ++seq) {
        const auto status = journal->append(files[t], seq, 0, bytes_of(std::string(1000 + t * 1500, 'x')));
        EXPECT_TRUE(status || status.error().code == ENOSPC) << status.error().message;
        if (!status) ++full;
        if (!status || seq % 7 == 0) {
          EXPECT_TRUE(journal->mark_home(files[t], seq));
        }
      }
      EXPECT_TRUE(journal->append(files[t], 101, 0, bytes_of("last")) || journal->mark_home(files[t], 101));
    });
  }
  threads.clear();
  EXPECT_TRUE(journal->unfinished().size() <= 4);
  for (const auto file : files) ASSERT_TRUE(journal->mark_home(file, 101));
  EXPECT_TRUE(journal->remove());
  EXPECT_EQ(journals(), 0u);
}

TEST_P(JournalTest, TheCallersBytesMayChangeMeanwhile) {
  auto journal = create(kLarge);
  const auto file = journal->add_file(identity(10)).value();
  // The engine appends from memory that other processes write to: here a second mapping of the same pages.
  const Fd memory(::memfd_create("shared", MFD_CLOEXEC));
  ASSERT_TRUE(reserve_storage(memory, 0, 1 << 16, "shared"));
  const auto ours = Mapping::shared(memory.get(), 1 << 16, "shared").value();
  const auto theirs = Mapping::shared(memory.get(), 1 << 16, "shared").value();
  std::atomic<bool> stop{false};
  std::jthread writer([&] {
    for (unsigned i = 0; !stop; ++i) theirs.data()[i % theirs.size()] = static_cast<std::byte>(i);
  });
  for (std::uint64_t seq = 1; seq <= 20; ++seq)
    EXPECT_TRUE(journal->append(file, seq, 0, {ours.data(), ours.size()}));
  stop = true;
  writer.join();
  journal.reset();
  const auto report = replay_all();
  EXPECT_EQ(report.bytes, 20u << 16);
  EXPECT_EQ(report.refused + report.torn, 0u);
}

TEST_P(JournalTest, ALivingOwnersJournalIsLeftAlone) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("mine")));
  const auto report = replay_all();
  EXPECT_EQ(report.living, 1u);
  EXPECT_EQ(report.journals, 0u);
  EXPECT_TRUE(home_.files.empty());
  EXPECT_TRUE(journal->append(file, 2, 4, bytes_of(" still")));
  journal.reset();
  replay_all();
  EXPECT_EQ(home_.text(10), "mine still");
}

TEST_P(JournalTest, RemovedAtACleanEnd) {
  auto journal = create();
  const auto file = journal->add_file(identity(10)).value();
  ASSERT_TRUE(journal->append(file, 1, 0, bytes_of("x")));
  ASSERT_TRUE(journal->mark_home(file, 1));
  ASSERT_TRUE(journal->remove());
  EXPECT_EQ(journals(), 0u);
  EXPECT_EQ(journal->append(file, 2, 0, bytes_of("x")).error().code, EBADF);
}

TEST_P(JournalTest, TheLastOneLeavesAnEmptyLedger) {
  auto one = create();
  auto two = create();
  ASSERT_TRUE(one->add_file(identity(10)));
  const auto ledger = HomeLedger::open(directory_.fd(), Create::kNever).value();
  ASSERT_TRUE(one->remove());
  EXPECT_EQ(ledger.contents()->entries.size(), 1u);
  ASSERT_TRUE(two->remove());
  EXPECT_TRUE(ledger.contents()->entries.empty());
}

TEST_P(JournalTest, RefusesImpossibleSizes) {
  EXPECT_EQ(Journal::create(directory_.fd(), 1000, GetParam()).error().code, EINVAL);
  EXPECT_EQ(Journal::create(directory_.fd(), std::uint64_t{1} << 50, GetParam()).error().code, ENOSPC);
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_EQ(entry.path().filename(), HomeLedger::kFileName) << "nothing else stays";
  }
}

TEST_P(JournalTest, SaysWhetherItSurvivesPowerLoss) {
  EXPECT_TRUE(create()->is_persistent());
  const TemporaryDirectory memory("/dev/shm");
  EXPECT_FALSE(Journal::create(memory.fd(), kSmall, GetParam()).value()->is_persistent());
}

INSTANTIATE_TEST_SUITE_P(Medium, JournalTest,
                         ::testing::Values(Journal::Medium::kFile, Journal::Medium::kPmem),
                         [](const auto& medium) {
                           return medium.param == Journal::Medium::kFile ? "File" : "Pmem";
                         });

}  // namespace
}  // namespace forebay
