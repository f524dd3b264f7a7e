// Interleavings that matter, made to happen.
#include "crash/interleaving.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/format.hpp"

namespace forebay::testing {
namespace {

// It waits for the lock of a bucket that a dying process has taken out of the index: what it stages must not
// be staged into nothing.
TEST_F(Interleaving, AWriterWhoWaitsForABucketThatADyingProcessHasUnlinked) {
  const Place place({.overrides = kQuiet});
  Child evictor([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    put(*file, 0, letters(4096, 'a'));
    must(file->sync());
    stop_at_point("evict.unlinked");
    (void)file->evict(0, 4096);
    return 0;
  });
  ASSERT_TRUE(reached());
  Child writer([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    put(*file, 100, letters(50, 'b'));
    if (get(*file, 100, 50) != letters(50, 'b')) return 1;
    must(file->close());
    return 0;
  });
  std::this_thread::sleep_for(100ms);  // long enough for it to wait, which is the point but not needed
  evictor.end();
  EXPECT_TRUE(writer.finished(20s));
  EXPECT_EQ(Place::slurp(place.home("a")).substr(100, 50), letters(50, 'b'));
}

TEST_F(Interleaving, AReaderWhoWaitsForABucketThatADyingProcessHasUnlinked) {
  const Place place({.overrides = kQuiet});
  Child evictor([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    put(*file, 0, letters(4096, 'a'));
    must(file->sync());
    stop_at_point("evict.unlinked");
    (void)file->evict(0, 4096);
    return 0;
  });
  ASSERT_TRUE(reached());
  Child reader([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    for (int i = 0; i < 20; ++i) {
      if (get(*file, 0, 4096) != letters(4096, 'a')) return 1;
    }
    return 0;
  });
  std::this_thread::sleep_for(50ms);
  evictor.end();
  EXPECT_TRUE(reader.finished(20s));
}

TEST_F(Interleaving, ATruncationWaitsForAWriteThatIsOnItsWayStraightHome) {
  const Place place({.stack = Stack::kMemory, .overrides = std::string(kQuiet) + " pressure.wait=0s"});
  std::ofstream(place.home("a")) << letters(300'000, 'o');
  Child writer([&] {
    auto buffer = place.attach();
    buffer->pause_drain(true);
    auto file = open(*buffer, place);
    // The tier is full of what does not go home by itself; the last one has no room.
    for (std::uint64_t i = 0; i < 16; ++i) put(*file, i * 4096, letters(4096, 's'));
    stop_at_point("straight.before_write");
    put(*file, 49 * 4096, letters(1000, 'x'));  // within one block: each block is a write of its own
    return 0;
  });
  ASSERT_TRUE(reached());
  Child truncater([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    must(file->truncate(100'000));
    return file->size().value() == 100'000 && get(*file, 99'990, 100).size() == 10 ? 0 : 1;
  });
  std::this_thread::sleep_for(100ms);
  gate_->open.store(true);
  EXPECT_TRUE(writer.finished(20s));
  EXPECT_TRUE(truncater.finished(20s));
  EXPECT_EQ(std::filesystem::file_size(place.home("a")), 100'000u);
}

TEST_F(Interleaving, AWriteStraightHomeStepsBackFromATruncation) {
  const Place place({.stack = Stack::kMemory, .overrides = std::string(kQuiet) + " pressure.wait=0s"});
  std::ofstream(place.home("a")) << letters(300'000, 'o');
  Child truncater([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    stop_at_point("truncate.home");
    must(file->truncate(100'000));
    return 0;
  });
  ASSERT_TRUE(reached());
  Child writer([&] {
    auto buffer = place.attach();
    buffer->pause_drain(true);
    // Another file fills the tier: its writes see no truncation.
    auto other = buffer->open(place.home("other"), O_RDWR | O_CREAT).value();
    for (std::uint64_t i = 0; i < 16; ++i) put(*other, i * 4096, letters(4096, 's'));
    auto file = open(*buffer, place);
    put(*file, 200'000, letters(1000, 'x'));
    return file->size().value() == 201'000 ? 0 : 1;
  });
  std::this_thread::sleep_for(100ms);
  gate_->open.store(true);
  EXPECT_TRUE(truncater.finished(20s));
  EXPECT_TRUE(writer.finished(20s));
  const auto home = Place::slurp(place.home("a"));
  EXPECT_EQ(home.size(), 201'000u);
  EXPECT_EQ(home.substr(100'000, 100'000), std::string(100'000, '\0'));
  EXPECT_EQ(home.substr(200'000), letters(1000, 'x'));
}

// A reader got leave to fill a bucket, and home's old bytes; the file is cut and grows again before it fills.
TEST_F(Interleaving, AFillFromBeforeATruncationDoesNotBringTheOldBytesBack) {
  const Place place({.overrides = std::string(kQuiet) + " admission.read=always readahead.max=0"});
  std::ofstream(place.home("a")) << letters(8192, 'o');
  Child reader([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    stop_at_point("fill.before_lock");
    if (get(*file, 0, 8192) != letters(8192, 'o')) return 1;
    return get(*file, 4096, 4096) == std::string(4096, '\0') ? 0 : 2;
  });
  ASSERT_TRUE(reached());
  Child truncater([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    must(file->truncate(4096));
    must(file->truncate(8192));
    return 0;
  });
  EXPECT_TRUE(truncater.finished(20s));
  gate_->open.store(true);
  EXPECT_TRUE(reader.finished(20s));
}

// The same with a write that went home and was evicted meanwhile.
TEST_F(Interleaving, AFillFromBeforeAWriteDoesNotBringTheOldBytesBack) {
  const Place place({.overrides = std::string(kQuiet) + " admission.read=always readahead.max=0"});
  std::ofstream(place.home("a")) << letters(4096, 'o');
  Child reader([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    stop_at_point("fill.before_lock");
    (void)get(*file, 0, 4096);
    return get(*file, 0, 4096) == letters(4096, 'n') ? 0 : 2;
  });
  ASSERT_TRUE(reached());
  Child writer([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    put(*file, 0, letters(4096, 'n'));
    must(file->sync());
    must(file->evict(0, 4096));
    return 0;
  });
  EXPECT_TRUE(writer.finished(20s));
  gate_->open.store(true);
  EXPECT_TRUE(reader.finished(20s));
}

// The writer's bucket stays, because of other bytes that are not home yet.
TEST_F(Interleaving, AFillFromBeforeAWriteThatWasForgottenDoesNotBringTheOldBytesBack) {
  const Place place({.overrides = std::string(kQuiet) + " admission.read=always readahead.max=0"});
  std::ofstream(place.home("a")) << letters(4096, 'o');
  Child reader([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    stop_at_point("fill.before_lock");
    (void)get(*file, 0, 4096);
    return get(*file, 0, 100) == letters(100, 'n') ? 0 : 2;
  });
  ASSERT_TRUE(reached());
  Child writer([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    put(*file, 0, letters(100, 'n'));
    must(file->sync());
    put(*file, 200, letters(100, 'd'));
    must(file->evict(0, 4096));
    gate_->open.store(true);
    return 0;
  });
  EXPECT_TRUE(writer.finished(20s));
  EXPECT_TRUE(reader.finished(20s));
}

// A read and a write of the same block, again and again: the block would never come.
TEST_F(Interleaving, AFillStandsWhenOtherBytesOfItsBucketAreWritten) {
  const Place place({.overrides = std::string(kQuiet) + " admission.read=always readahead.max=0"});
  std::ofstream(place.home("a")) << letters(4096, 'o');
  Child reader([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    stop_at_point("fill.before_lock");
    (void)get(*file, 0, 4096);
    const auto asked = buffer->core().counters().home_reads.load();
    const auto now = get(*file, 0, 4096);
    if (now != letters(100, 'o') + letters(100, 'n') + letters(3896, 'o')) return 1;
    return buffer->core().counters().home_reads.load() == asked ? 0 : 2;
  });
  ASSERT_TRUE(reached());
  Child writer([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    put(*file, 100, letters(100, 'n'));
    must(file->sync());
    return 0;
  });
  EXPECT_TRUE(writer.finished(20s));
  gate_->open.store(true);
  EXPECT_TRUE(reader.finished(20s));
}

// A process is reaped before its io_uring is gone: what it left must be found all the same.
TEST_F(Interleaving, RecoveryRightAfterAKillFindsEverything) {
  for (int round = 0; round < 5; ++round) {
    const Place place({.overrides = std::string(kQuiet) + " pressure.low_water=40% pressure.high_water=60%"});
    const auto bytes = letters(150'000, static_cast<char>('a' + round));
    Child writer([&] {
      auto buffer = place.attach();
      auto file = open(*buffer, place);
      put(*file, 0, bytes);
      gate_->reached.store(true);
      ::pause();
      return 0;
    });
    ASSERT_TRUE(reached());
    gate_->reached.store(false);
    writer.end();
    Child recoverer([&] {
      auto buffer = place.attach();
      must(buffer->drain(10s));
      return 0;
    });
    EXPECT_TRUE(recoverer.finished(20s));
    EXPECT_TRUE(Place::slurp(place.home("a")) == bytes);
  }
}

// A child of a killed process lives on: it must not keep the dead one's locks alive.
TEST_F(Interleaving, AForkedChildDoesNotKeepItsDeadParentsLocks) {
  const Place place({.overrides = std::string(kQuiet) + " limits.lock_wait=3s"});
  Child parent([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    std::this_thread::sleep_for(50ms);  // the ring is made in the background
    if (const auto child = ::fork(); child == 0) {
      ::prctl(PR_SET_PDEATHSIG, 0);
      ::alarm(20);
      for (;;) ::pause();
    }
    stop_at_point("stage.copied");
    put(*file, 0, letters(100, 'x'));
    return 0;
  });
  ASSERT_TRUE(reached());
  parent.end();
  Child other([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    put(*file, 0, letters(100, 'y'));
    return get(*file, 0, 100) == letters(100, 'y') ? 0 : 1;
  });
  EXPECT_TRUE(other.finished(20s));
}

// Each kind of lock is held by a process that is killed; whoever needs it next gets it.
struct Held {
  const char* lock;
  const char* point;
};
class KilledWithLock : public Interleaving, public ::testing::WithParamInterface<Held> {};

void use_everything(Buffer& buffer, const Place& place) {
  auto file = buffer.open(place.home("a"), O_RDWR | O_CREAT).value();
  put(*file, 0, letters(20'000, 'v'));
  must(file->truncate(15'000));
  must(file->sync());
  must(file->evict(0, 20'000));
  if (get(*file, 0, 20'000) != letters(15'000, 'v')) throw std::runtime_error("wrong bytes");
  must(file->close());
}

TEST_P(KilledWithLock, IsReplaced) {
  const Place place({.overrides = std::string(kQuiet) + " admission.read=always"});
  Child victim([&] {
    stop_at_point(GetParam().point);
    auto buffer = place.attach();
    use_everything(*buffer, place);
    return 0;
  });
  ASSERT_TRUE(reached()) << GetParam().point << " is not passed";
  Child survivor([&] {
    const auto began = std::chrono::steady_clock::now();
    auto buffer = place.attach();
    use_everything(*buffer, place);
    const bool soon = std::chrono::steady_clock::now() - began < 8s;
    must(buffer->detach());
    return soon ? 0 : 1;
  });
  std::this_thread::sleep_for(50ms);
  victim.end();
  EXPECT_TRUE(survivor.finished(30s));
  EXPECT_EQ(Place::slurp(place.home("a")), letters(15'000, 'v'));
}

INSTANTIATE_TEST_SUITE_P(
    Locks, KilledWithLock,
    ::testing::Values(Held{"bucket", "stage.copied"}, Held{"bucket_and_chain_to_link", "insert.before_head"},
                      Held{"bucket_and_chain_to_unlink", "evict.unlinked"},
                      Held{"bucket_of_a_claim", "claim.claimed"}, Held{"file", "truncate.intent"},
                      Held{"file_and_bucket", "truncate.cut"}, Held{"table", "file.before_head"},
                      Held{"table_after", "file.before_open_entry"}, Held{"grow", "slot.grown"},
                      Held{"no_lock_but_a_claim", "ship.before_write"},
                      Held{"bucket_of_a_fill", "fill.copied"}),
    [](const auto& each) { return std::string(each.param.lock); });

// A process that only drains is killed in the middle of it.
class KilledDrainer : public Interleaving, public ::testing::WithParamInterface<const char*> {};

TEST_P(KilledDrainer, IsReplaced) {
  const Place place({.overrides = kQuiet});
  const auto bytes = letters(60'000, 'd');
  Child writer([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    put(*file, 0, bytes);
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  (void)writer.wait(20s);
  Child drainer([&] {
    stop_at_point(GetParam());
    auto buffer = place.attach({.background = false});
    must(buffer->drain(10s));
    return 0;
  });
  ASSERT_TRUE(reached());
  drainer.end();
  Child next([&] {
    auto buffer = place.attach({.background = false});
    must(buffer->drain(10s));
    return 0;
  });
  EXPECT_TRUE(next.finished(20s));
  EXPECT_TRUE(Place::slurp(place.home("a")) == bytes);
}

INSTANTIATE_TEST_SUITE_P(Points, KilledDrainer,
                         ::testing::Values("claim.before_claimed", "claim.claimed", "ship.before_write",
                                           "ship.written", "complete.before_claimer"),
                         [](const auto& each) {
                           std::string name = each.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

// Who has evicted the last bucket of a file and not counted it yet: the record may be another file's by then,
// and a file that seems to have no bucket is not searched when it is cut.
TEST_F(Interleaving, ATruncationOfAFileWhoseRecordHadAnotherFilesLastBucketCountedLate) {
  const Place place({.overrides = std::string(kQuiet) + " buffer.max_files=16"});
  const auto buffer = place.attach();
  std::vector<std::shared_ptr<File>> others;
  for (int i = 0; i < 15; ++i) {
    auto other = buffer->open(place.home(format_text("other{}", i)), O_RDWR | O_CREAT);
    ASSERT_TRUE(other) << other.error().message;
    others.push_back(*other);
  }
  const auto first = open(*buffer, place);
  const auto key = buffer->core().files.key(first->number(), 0);
  put(*first, 0, letters(100, 'a'));
  must(first->sync());
  must(first->close());
  Child evictor([&] {
    auto mine = place.attach();
    const auto found = mine->core().buckets.find(key);
    if (!found) return 1;
    stop_at_point("evict.slot_free");
    return mine->core().buckets.evict(*found, key) ? 0 : 2;
  });
  ASSERT_TRUE(reached());
  auto opened = buffer->open(place.home("b"), O_RDWR | O_CREAT);
  ASSERT_TRUE(opened) << opened.error().message;
  auto& file = **opened;
  ASSERT_EQ(file.number(), first->number());
  put(file, 0, letters(100, 'b'));
  gate_->open.store(true);
  ASSERT_TRUE(evictor.finished(20s));
  must(file.truncate(0));
  must(file.truncate(100));
  EXPECT_EQ(get(file, 0, 100), std::string(100, '\0'));
}

// Its last user gives up what has no name any more, while somebody who has it open still enters it: what that
// one stages is not given up.
TEST_F(Interleaving, AFileThatIsOpenedAgainWhileItIsGivenUp) {
  const Place place({.overrides = kQuiet});
  std::ofstream(place.home("a")) << letters(10'000, 'o');
  const Fd still(::open(place.home("a").c_str(), O_RDWR));
  Child last([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place, O_RDWR);
    put(*file, 0, letters(100, 'x'));
    ::unlink(place.home("a").c_str());
    buffer->unlinked(stamp_of(still.get(), "a")->identity);
    stop_at_point("give_up.waited");
    (void)file->close();
    return 0;
  });
  ASSERT_TRUE(reached());
  const auto buffer = place.attach();
  const auto again = buffer->open_descriptor(still.get(), O_RDWR, Look::kAsk).value();
  put(*again, 200, letters(100, 'y'));
  gate_->open.store(true);
  EXPECT_TRUE(last.finished(20s));
  EXPECT_EQ(get(*again, 200, 100), letters(100, 'y'));
}

}  // namespace
}  // namespace forebay::testing
