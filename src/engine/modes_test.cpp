// Modes, durability, what outlives a process, and what is refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/format.hpp"
#include "engine/attach.hpp"
#include "engine/test_buffer.hpp"
#include "os/private_file.hpp"
#include "tier/home_ledger.hpp"

namespace forebay {
namespace {

// Here and now: no destructor runs.
void die() { ::kill(::getpid(), SIGKILL); }

// Runs `work` in a child, which must die by itself.
template <class Work>
void in_a_child_that_dies(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
}

TEST(Modes, AcknowledgedBytesSurviveTheDeathOfEveryone) {
  TestBuffer test("drain.trigger=never", false);
  const auto path = test.home("a");
  const std::string text(20'000, 'k');
  in_a_child_that_dies([&] {
    test.attach();
    auto file = test.open(path, O_RDWR | O_CREAT);
    ASSERT_EQ(file->write(1, bytes_of(text)), text.size());
    die();
  });
  EXPECT_TRUE(TestBuffer::slurp(path).empty());
  test.attach();
  {
    // Seen at once, before they are home.
    auto file = test.open(path, O_RDONLY);
    EXPECT_TRUE(test.read_all(*file) == '\0' + text);
  }
  ASSERT_TRUE(test->drain(std::chrono::seconds(10)));
  EXPECT_TRUE(TestBuffer::slurp(path) == '\0' + text);
}

TEST(Modes, NodeDurabilitySurvivesTheLossOfTheBuffer) {
  TestBuffer test("drain.trigger=never durability=node journal.size=1MiB", false);
  const auto path = test.home("a");
  const auto plain = test.home("b");
  const std::string text(30'000, 'n');
  in_a_child_that_dies([&] {
    test.attach();
    auto file = test.open(path, O_RDWR | O_CREAT);
    ASSERT_EQ(file->write(0, bytes_of(text)), text.size());
    ASSERT_EQ(file->write(5, bytes_of("hello")), 5u);
    ASSERT_TRUE(file->truncate(25'000));
    auto other = test->open(plain, O_RDWR | O_CREAT, 0666,
                            [](FileSettings& s) { s.durability = Durability::Process; });
    ASSERT_TRUE(other);
    ASSERT_EQ((*other)->write(0, bytes_of("gone")), 4u);
    die();
  });
  // The node restarts: memory is empty, the disk is as it was.
  std::filesystem::remove_all(test.memory("control"));
  for (const auto& entry : std::filesystem::directory_iterator(test.memory("")))
    std::filesystem::remove_all(entry);
  test.attach();
  auto expected = text.substr(0, 25'000);
  expected.replace(5, 5, "hello");
  EXPECT_TRUE(TestBuffer::slurp(path) == expected);
  EXPECT_EQ(TestBuffer::slurp(plain), "");
}

TEST(Modes, AFullJournalBringsItsFilesHome) {
  TestBuffer test("durability=node journal.size=1MiB");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string piece(20'000, static_cast<char>('a' + i % 26));
    ASSERT_EQ(file->write(expected.size(), bytes_of(piece)), piece.size()) << i;
    expected += piece;
  }
  ASSERT_TRUE(file->close());
  EXPECT_TRUE(TestBuffer::slurp(path) == expected);
}

TEST(Modes, AClosedFileThatIsHomeLeavesTheLedger) {
  TestBuffer test("durability=node journal.size=1MiB");
  const auto journals = test.disk("nvme/forebay-" + std::to_string(::geteuid()) + "/default/journals");
  const auto entered = [&] {
    const auto directory = open_private_directory(journals, Create::kNever).value();
    return HomeLedger::open(directory, Create::kNever).value().contents().value().entries.size();
  };
  const auto stays = test.open(test.home("stays"), O_RDWR | O_CREAT);
  for (int i = 0; i < 5; ++i) {
    const auto file = test.open(test.home("f" + std::to_string(i)), O_RDWR | O_CREAT);
    ASSERT_EQ(file->write(0, bytes_of("text")), 4u);
    EXPECT_EQ(entered(), 2u);
    ASSERT_TRUE(file->close());
  }
  EXPECT_EQ(entered(), 1u);
  const auto again = test.open(test.home("f0"), O_RDWR);
  ASSERT_EQ(again->write(0, bytes_of("more")), 4u);
  ASSERT_TRUE(again->close());
  EXPECT_EQ(TestBuffer::slurp(test.home("f0")), "more");
}

// Home's measured speed decides: large writes pass by the buffer where that is as fast as memory.
TEST(Modes, LargeWritesGoStraightToAFastHomeAndAreStagedForASlowOne) {
  for (const bool fast : {true, false}) {
    TestBuffer test("drain.trigger=never", false);
    test.attach();
    test.detach();
    std::ofstream(test.memory("control/profile.yaml"))
        << "homes: [{path: " << test.home("") << ", bandwidth: " << (fast ? "4GB" : "100MB")
        << "/s, latency: 1us}]\n";
    test.attach();
    const std::string large(100'000, 'l');
    auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
    ASSERT_EQ(file->write(0, bytes_of("small")), 5u);
    ASSERT_EQ(file->write(8192, bytes_of(large)), large.size());
    EXPECT_EQ(test->core().counters().straight_home_bytes.load(), fast ? large.size() : 0u);
    std::string got(large.size() + 8192, '\0');
    ASSERT_EQ(file->read(0, std::as_writable_bytes(std::span(got))), got.size());
    EXPECT_TRUE(got == "small" + std::string(8187, '\0') + large);
    // What is buffered already stays with its bytes.
    ASSERT_EQ(file->write(0, bytes_of(large)), large.size());
    ASSERT_TRUE(file->close());
    EXPECT_TRUE(TestBuffer::slurp(test.home("a")) == large + large.substr(91'808));
  }
}

TEST(Modes, CachedBytesServeTheNextProcessAndAreCheckedAgainstHome) {
  TestBuffer test("admission.read=always", false);
  const auto path = test.home("data");
  std::ofstream(path) << std::string(30'000, 'd');
  const auto hits_of_a_read = [&] {
    test.attach();
    auto file = test.open(path, O_RDONLY);
    EXPECT_EQ(test.read_all(*file).size(), 30'000u);
    const auto hits = test->core().counted(&Counters::hit_bytes);
    file.reset();
    test.detach();
    return hits;
  };
  EXPECT_EQ(hits_of_a_read(), 0u);
  EXPECT_EQ(hits_of_a_read(), 30'000u);
  std::ofstream(path) << std::string(30'000, 'e');
  test.attach();
  auto file = test.open(path, O_RDONLY);
  EXPECT_TRUE(test.read_all(*file) == std::string(30'000, 'e'));
}

TEST(Modes, WriteThroughIsHomeWhenItReturns) {
  TestBuffer test("durability=home drain.trigger=never");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of("now")), 3u);
  EXPECT_EQ(TestBuffer::slurp(path), "now");
}

TEST(Modes, ScratchNeverGoesHomeAndGoesWithItsLastUser) {
  TestBuffer test("mode=scratch");
  const auto path = test.home("tmp");
  auto file = test.open(path, O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of("scratch")), 7u);
  ASSERT_TRUE(file->close());
  file = test.open(path, O_RDWR);
  EXPECT_EQ(test.read_all(*file), "scratch");
  EXPECT_EQ(TestBuffer::slurp(path), "");
  ASSERT_TRUE(file->close());
  file.reset();
  test.detach();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Modes, BypassDoesNotStage) {
  TestBuffer test("mode=bypass");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of("past")), 4u);
  EXPECT_EQ(TestBuffer::slurp(path), "past");
  EXPECT_EQ(file->size(), 4u);
  EXPECT_EQ(test.read_all(*file), "past");
  EXPECT_EQ(test->core().counted(&Counters::staged_bytes), 0u);
}

// What goes straight home because it is used there only.
TEST(Modes, BypassTellsWhatHomeTook) {
  TestBuffer test("mode=bypass on_flush=stage");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  const std::string ten(10, 'x');
  const Piece pieces[] = {{0, bytes_of(ten)}, {10, {}}, {20, bytes_of(ten)}};
  EXPECT_EQ(file->write(pieces), 20u);
  EXPECT_EQ(file->size(), 30u);
  std::string all(100, '?');
  EXPECT_EQ(file->read(0, writable_bytes_of(all)), 30u);
  const auto passed = [&] { return test->core().counted(&Counters::passed_through); };
  EXPECT_EQ(passed(), 50u);
  EXPECT_EQ(file->append(bytes_of(ten)), 30u);
  EXPECT_EQ(passed(), 60u);
  EXPECT_EQ(test->core().counted(&Counters::written_bytes), 0u);
  // All or nothing is what the others have who look at home.
  const Piece last{0, bytes_of("first")};
  EXPECT_TRUE(file->write_as_one({.pieces = {last}, .size = 35}));
  EXPECT_EQ(TestBuffer::slurp(path), "first" + std::string(5, 'x') + std::string(10, '\0') +
                                         std::string(10, 'x') + std::string(5, 'x'));
  EXPECT_EQ(test->core().counted(&Counters::staged_bytes), 0u);
}

TEST(Modes, AHardReservationThatCannotBeGrantedIsRefused) {
  TestBuffer test;
  const auto want = [&](const std::string& name, std::uint64_t bytes, ReserveKind kind) {
    return test->open(test.home(name), O_RDWR | O_CREAT, 0666, [=](FileSettings& s) {
      s.reserve_size = bytes;
      s.reserve_kind = kind;
    });
  };
  auto first = want("a", 48 << 10, ReserveKind::Hard);
  ASSERT_TRUE(first);
  const auto second = want("b", 32 << 10, ReserveKind::Hard);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ENOSPC);
  EXPECT_TRUE(want("b", 32 << 10, ReserveKind::Soft));
}

TEST(Modes, AFileMayBeBroughtWhenItIsOpened) {
  TestBuffer test("prefetch.at_open=file");
  const auto path = test.home("a");
  std::ofstream(path) << std::string(20'000, 'b');
  auto file = test.open(path, O_RDONLY);
  auto& counters = test->core().counters();
  EXPECT_TRUE(test.eventually([&] { return counters.prefetched_bytes.load() == 20'000; }));
  EXPECT_EQ(test.read_all(*file), std::string(20'000, 'b'));
  EXPECT_EQ(counters.miss_bytes.load(), 0u);
}

TEST(Modes, AReservationMayBeChangedLater) {
  TestBuffer test;
  auto first = test.open(test.home("a"), O_RDWR | O_CREAT);
  auto second = test.open(test.home("b"), O_RDWR | O_CREAT);
  EXPECT_EQ(first->room(), 64u << 10);
  EXPECT_EQ(first->reserve(48 << 10), 48u << 10);
  EXPECT_EQ(second->room(), 16u << 10);
  EXPECT_EQ(second->reserve(32 << 10), 16u << 10);
  EXPECT_EQ(first->reserve(0), 0u);
  EXPECT_EQ(second->reserve(32 << 10), 32u << 10);
  ASSERT_TRUE(second->write(0, bytes_of(std::string(4096, 'x'))));
  EXPECT_EQ(second->room(), 60u << 10);
}

TEST(Modes, DrainOfOneFileCanBeHeldBack) {
  TestBuffer test("drain.delay=0s");
  const auto held = test.home("held");
  const auto free = test.home("free");
  auto one = test.open(held, O_RDWR | O_CREAT);
  auto other = test.open(free, O_RDWR | O_CREAT);
  one->pause_drain(true);
  ASSERT_TRUE(one->write(0, bytes_of("held")));
  ASSERT_TRUE(other->write(0, bytes_of("free")));
  EXPECT_TRUE(test.eventually([&] { return TestBuffer::slurp(free) == "free"; }));
  EXPECT_EQ(TestBuffer::slurp(held), "");
  one->pause_drain(false);
  EXPECT_TRUE(test.eventually([&] { return TestBuffer::slurp(held) == "held"; }));
  one->pause_drain(true);
  ASSERT_TRUE(one->write(0, bytes_of("here")));
  ASSERT_TRUE(one->drain());
  EXPECT_EQ(TestBuffer::slurp(held), "here");
}

TEST(Modes, NothingArrivesWhileTheDrainOfAFileIsHeld) {
  TestBuffer test("drain.delay=0s");
  const auto held = test.home("held");
  const auto free = test.home("free");
  auto one = test.open(held, O_RDWR | O_CREAT);
  auto other = test.open(free, O_RDWR | O_CREAT);
  for (int i = 0; i < 100; ++i) {
    const auto before = format_text("{:08}", 2 * i);
    const auto after = format_text("{:08}", 2 * i + 1);
    ASSERT_TRUE(one->write(0, bytes_of(before)));
    one->hold_drain();
    one->hold_drain();
    const auto seen = TestBuffer::slurp(held);
    ASSERT_TRUE(one->write(0, bytes_of(after)));
    ASSERT_TRUE(other->write(0, bytes_of(after)));
    one->let_drain_go();
    // The background is at work, and passes this one by.
    ASSERT_TRUE(test.eventually([&] { return TestBuffer::slurp(free) == after; }));
    ASSERT_EQ(TestBuffer::slurp(held), seen);
    one->let_drain_go();
  }
  EXPECT_TRUE(test.eventually([&] { return TestBuffer::slurp(held) == TestBuffer::slurp(free); }));
  // Whoever waits for it is not held up.
  one->hold_drain();
  ASSERT_TRUE(one->write(0, bytes_of("at once!")));
  ASSERT_TRUE(one->drain());
  EXPECT_EQ(TestBuffer::slurp(held), "at once!");
  one->let_drain_go();
}

TEST(Modes, CloseNeedNotWaitForHomeIfAskedLater) {
  TestBuffer test("drain.trigger=never");
  const auto path = test.home("a");
  auto file = test.open(path, O_RDWR | O_CREAT);
  test->pause_drain(true);
  ASSERT_TRUE(file->write(0, bytes_of("later")));
  file->detach_on_close();
  ASSERT_TRUE(file->close());
  EXPECT_EQ(TestBuffer::slurp(path), "");
  test->pause_drain(false);
  EXPECT_TRUE(test.eventually([&] { return TestBuffer::slurp(path) == "later"; }));
}

TEST(Modes, PinnedBytesStayUnderPressure) {
  TestBuffer test("tiers=memory:/dev/shm:64KiB buffer.name=pin-test", false);
  test.attach();
  const auto path = test.home("keep");
  std::ofstream(path) << std::string(8192, 'p');
  auto keep = test.open(path, O_RDONLY);
  ASSERT_TRUE(keep->pin(0, 8192));
  auto other = test.open(test.home("flood"), O_RDWR | O_CREAT);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(other->write(static_cast<std::uint64_t>(i) * 4096, bytes_of(std::string(4096, 'f'))), 4096u);
  const auto before = test->core().counted(&Counters::hit_bytes);
  EXPECT_TRUE(test.read_all(*keep) == std::string(8192, 'p'));
  EXPECT_EQ(test->core().counted(&Counters::hit_bytes) - before, 8192u);
}

TEST(Modes, AForkedChildIsNotAttached) {
  TestBuffer test;
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of("parent")), 6u);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto written = file->write(0, bytes_of("child!"));
    ::_exit(!written && written.error().code == ENOTCONN ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ASSERT_TRUE(file->close());
  EXPECT_EQ(TestBuffer::slurp(test.home("a")), "parent");
}

TEST(Modes, ATierThatDoesNotFitIsFoundAtAttach) {
  TestBuffer test("tiers=memory:/dev/shm:900TiB buffer.bucket_size=16MiB", false);
  const auto attached = Buffer::attach(test.settings());
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ENOSPC);
  EXPECT_NE(attached.error().message.find("/dev/shm"), std::string::npos) << attached.error().message;
}

}  // namespace
}  // namespace forebay
