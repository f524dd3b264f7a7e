// Tiers that are too small, fill up or vanish: found where it can be said, never SIGBUS, nothing lost.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/log.hpp"
#include "engine/status.hpp"
#include "os/temporary_directory.hpp"
#include "support/child.hpp"
#include "support/place.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;

// A tmpfs of a given size for the length of a test; seen by this process's mount namespace only as far as
// that is private.
class SmallMemory {
 public:
  explicit SmallMemory(const std::string& size) {
    mounted_ =
        ::mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, ("mode=0700,size=" + size).c_str()) == 0;
  }
  ~SmallMemory() {
    if (mounted_) ::umount2(directory_.path().c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }
  // Leaves `left` bytes of it, at most.
  void fill(std::uint64_t left = 0) const {
    const auto space = std::filesystem::space(path()).available;
    const Fd fd(::open((path() + "/filler").c_str(), O_CREAT | O_WRONLY, 0600));
    if (space > left) (void)::posix_fallocate(fd.get(), 0, static_cast<off_t>(space - left));
  }

 private:
  TemporaryDirectory directory_;
  bool mounted_;
};

#define SKIP_WITHOUT(memory) \
  if (!(memory).mounted()) GTEST_SKIP() << "SKIPPED: no right to mount a tmpfs"

std::string some_bytes(std::size_t size, unsigned seed = 1) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i + seed) * 2654435761u >> 13);
  return bytes;
}

class TierFault : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::Off); }

  // Writes far more than the tiers hold, reads it back and compares home, in a process of its own: a SIGBUS
  // is seen.
  static void use(const Place& place, bool fragmented) {
    Child child([&] {
      auto buffer = place.attach();
      const auto file = buffer->open(place.home("a"), O_RDWR | O_CREAT);
      if (!file) throw std::runtime_error(file.error().message);
      std::string expected = some_bytes(400'000);
      for (std::size_t at = 0; at < expected.size(); at += 8000) {
        const auto done = (*file)->write(at, std::as_bytes(std::span(expected).subspan(at, 8000)));
        if (!done) throw std::runtime_error(done.error().message);
      }
      for (std::size_t at = 0; fragmented && at < 20'000; at += 2) {
        expected[at] = 'x';
        const auto done = (*file)->write(at, std::as_bytes(std::span(expected).subspan(at, 1)));
        if (!done) throw std::runtime_error(done.error().message);
      }
      std::string back(expected.size(), '?');
      const auto got = (*file)->read(0, std::as_writable_bytes(std::span(back)));
      if (!got) throw std::runtime_error(got.error().message);
      if (const auto status = (*file)->close(); !status) throw std::runtime_error(status.error().message);
      return back == expected && Place::slurp(place.home("a")) == expected ? 0 : 1;
    });
    const auto status = child.wait(60s);
    ASSERT_TRUE(status) << "it hangs";
    EXPECT_TRUE(Child::was_well(*status)) << "status " << *status;
  }
};

TEST_F(TierFault, MemoryThatIsTooSmallIsFoundAtAttach) {
  const SmallMemory memory("1m");
  SKIP_WITHOUT(memory);
  const Place place({.overrides = "tiers=memory:" + memory.path() + ":2MiB"});
  const auto attached = Buffer::attach(place.settings());
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ENOSPC);
  EXPECT_NE(attached.error().message.find(memory.path()), std::string::npos) << attached.error().message;
}

// Each was compared with all that is free.
TEST_F(TierFault, TiersThatAreTogetherTooLargeForTheirPlaceAreFoundAtAttach) {
  const SmallMemory memory("4m");
  SKIP_WITHOUT(memory);
  const Place place(
      {.overrides = "tiers=memory:" + memory.path() + ":3MiB,shared:" + memory.path() + ":2MiB"});
  const auto attached = Buffer::attach(place.settings());
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ENOSPC);
  EXPECT_NE(attached.error().message.find("memory and shared together want 5.0MiB"), std::string::npos)
      << attached.error().message;
}

TEST_F(TierFault, NoRoomForTheControlFileIsFoundAtAttach) {
  const SmallMemory memory("64k");
  SKIP_WITHOUT(memory);
  const Place place({.overrides = "buffer.directory=" + memory.path() + "/control"});
  const auto attached = Buffer::attach(place.settings());
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ENOSPC) << attached.error().message;
}

TEST_F(TierFault, MemoryThatFillsUpAfterAttachIsDoneWithout) {
  const SmallMemory memory("4m");
  SKIP_WITHOUT(memory);
  const Place place(
      {.overrides = "tiers=memory:" + memory.path() + ":2MiB buffer.bucket_size=16KiB pressure.wait=5ms"});
  auto buffer = place.attach();
  // Not one bucket is reserved yet.
  memory.fill();
  use(place, false);
  const auto seen = look_at_buffer(place.settings());
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->tiers.at(0).failed, ENOSPC);
}

TEST_F(TierFault, MemoryThatHasRoomAgainIsUsedAgain) {
  const SmallMemory memory("4m");
  SKIP_WITHOUT(memory);
  const Place place(
      {.overrides = "tiers=memory:" + memory.path() + ":2MiB buffer.bucket_size=16KiB pressure.wait=5ms"});
  auto buffer = place.attach();
  memory.fill();
  use(place, false);
  ASSERT_NE(look_at_buffer(place.settings())->tiers.at(0).failed, 0);
  std::filesystem::remove(memory.path() + "/filler");
  const auto file = buffer->open(place.home("b"), O_RDWR | O_CREAT).value();
  const auto bytes = some_bytes(16 << 10);
  const auto staged = [&] { return buffer->core().counted(&Counters::staged_bytes); };
  for (int i = 0; i < 200 && staged() == 0; ++i) {
    ASSERT_TRUE(file->write(0, std::as_bytes(std::span(bytes))));
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_NE(staged(), 0u);
  EXPECT_EQ(look_at_buffer(place.settings())->tiers.at(0).failed, 0);
}

TEST_F(TierFault, ControlFilesWithoutRoomForMapsAreDoneWithout) {
  const SmallMemory memory("4m");
  SKIP_WITHOUT(memory);
  const Place place(
      {.bucket_kib = 16, .overrides = "buffer.directory=" + memory.path() + "/control limits.open_files=16"});
  auto buffer = place.attach();
  // Room for another process's opens, and not for maps.
  memory.fill(8 << 10);
  use(place, true);
}

TEST_F(TierFault, ControlFilesWithoutRoomForDescriptorsAreDoneWithout) {
  for (const std::uint64_t left : {4u << 10, 8u << 10, 12u << 10, 16u << 10}) {
    const SmallMemory memory("4m");
    SKIP_WITHOUT(memory);
    const Place place({.overrides = "buffer.directory=" + memory.path() +
                                    "/control limits.open_files=16 pressure.wait=5ms"});
    auto buffer = place.attach();
    ASSERT_EQ(buffer->core().control.buckets_ready(), kFirstBuckets);
    // Room for another process's opens, with luck for checksums, and hardly for more descriptors.
    memory.fill(left);
    use(place, false);
  }
}

TEST_F(TierFault, ADiskThatFillsUpIsDoneWithout) {
  const SmallMemory disk("3m");
  SKIP_WITHOUT(disk);
  const Place place({.overrides = "pressure.wait=5ms"});
  const Place full({.overrides = "tiers=memory:" + place.memory("") + ":64KiB,shared:" + disk.path() +
                                 ":1MiB pressure.wait=5ms"});
  auto buffer = full.attach();
  disk.fill();
  use(full, false);
}

TEST_F(TierFault, ADiskThatCannotBeWrittenIsLeftOutAndTheTierBelowTakesItsPlace) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  SlowfsMount disk;
  const Place below;
  const Place place({.overrides = "tiers=memory:" + below.memory("") + ":64KiB,nvme:" + disk.path().string() +
                                  ":128KiB,shared:" + below.disk("nvme") + ":256KiB"});
  auto buffer = place.attach();
  buffer->pause_drain(true);
  auto file = buffer->open(place.home("a"), O_RDWR | O_CREAT).value();
  disk.control("fail_write=EIO");
  const auto bytes = some_bytes(250'000);
  ASSERT_EQ(file->write(0, std::as_bytes(std::span(bytes))), bytes.size());
  EXPECT_EQ(buffer->core().counters().straight_home_bytes.load(), 0u) << "there was room below";
  EXPECT_EQ(look_at_buffer(place.settings())->tiers.at(1).failed, EIO);
  std::string back(bytes.size(), '?');
  ASSERT_TRUE(file->read(0, std::as_writable_bytes(std::span(back))));
  EXPECT_TRUE(back == bytes);
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(Place::slurp(place.home("a")) == bytes);
}

// What home has too was an error to read and to write.
TEST_F(TierFault, ADiskThatCannotBeReadLosesWhatHomeHasOnly) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  SlowfsMount disk;
  const Place memory;
  const Place place({.overrides = "tiers=memory:" + memory.memory("") +
                                  ":64KiB,nvme:" + disk.path().string() + ":256KiB readahead.max=0"});
  auto buffer = place.attach();
  auto file = buffer->open(place.home("a"), O_RDWR | O_CREAT).value();
  auto bytes = some_bytes(150'000);
  ASSERT_EQ(file->write(0, std::as_bytes(std::span(bytes))), bytes.size());
  ASSERT_TRUE(file->sync());
  ASSERT_NE(buffer->core().counters().demotions.load(), 0u);
  disk.control("fail_read=EIO");
  std::string back(bytes.size(), '?');
  ASSERT_EQ(file->read(0, std::as_writable_bytes(std::span(back))), bytes.size());
  EXPECT_TRUE(back == bytes);
  EXPECT_EQ(look_at_buffer(place.settings())->tiers.at(1).failed, EIO);
  for (std::size_t at = 100; at < bytes.size(); at += 4096) {
    bytes[at] = '!';
    ASSERT_TRUE(file->write(at, std::as_bytes(std::span(bytes).subspan(at, 1)))) << at;
  }
  ASSERT_TRUE(file->close());
  EXPECT_TRUE(Place::slurp(place.home("a")) == bytes);
}

TEST_F(TierFault, ADiskThatFailsTheJournalOnceDoesNotFailWhatIsWrittenFromThenOn) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  SlowfsMount disk;
  const Place other;
  const Place place(
      {.overrides = "tiers=memory:" + other.memory("") + ":64KiB,nvme:" + disk.path().string() +
                    ":128KiB durability=node journal.size=1MiB drain.trigger=never on_close=detach "
                    "drain.program=/no/such/program"});
  const auto put = [](File& file, std::uint64_t at, const std::string& text) {
    return file.write(at, std::as_bytes(std::span(text))).has_value();
  };
  Child child([&] {
    auto buffer = place.attach();
    auto file = buffer->open(place.home("a"), O_RDWR | O_CREAT).value();
    auto another = buffer->open(place.home("b"), O_RDWR | O_CREAT).value();
    if (!put(*file, 0, "old") || !put(*another, 0, "kept")) return 1;
    disk.control("fail_nth_write=1,EIO");
    if (!put(*file, 3, " and more")) return 2;
    if (Place::slurp(place.home("a")) != "old and more") return 3;
    if (!put(*file, 0, "new") || !put(*another, 4, " too")) return 4;
    if (Place::slurp(place.home("a")) != "new and more") return 5;
    ::kill(::getpid(), SIGKILL);
    return 6;
  });
  const auto status = child.wait(20s);
  ASSERT_TRUE(status && Child::was_killed(*status)) << status.value_or(-1);
  // The node is lost, and its buffer with it: what was logged first must not come back over what is home.
  std::filesystem::remove_all(place.control_base());
  std::filesystem::remove_all(other.memory("forebay-" + std::to_string(::geteuid())));
  auto buffer = place.attach();
  EXPECT_EQ(Place::slurp(place.home("a")), "new and more");
  EXPECT_EQ(Place::slurp(place.home("b")), "kept too");
}

TEST_F(TierFault, ATierWhoseFileVanishesServesThoseWhoHaveIt) {
  const Place place({.overrides = "drain.trigger=never pressure.low_water=50% pressure.high_water=60%"});
  auto buffer = place.attach();
  auto file = buffer->open(place.home("a"), O_RDWR | O_CREAT).value();
  const auto bytes = some_bytes(150'000);
  ASSERT_TRUE(file->write(0, std::as_bytes(std::span(bytes))));
  std::filesystem::remove_all(place.disk("nvme"));
  std::string back(bytes.size(), '?');
  ASSERT_TRUE(file->read(0, std::as_writable_bytes(std::span(back))));
  EXPECT_TRUE(back == bytes);
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(Place::slurp(place.home("a")) == bytes);
}

TEST_F(TierFault, ATierThatIsAwayWhenEverybodyIsDeadIsWaitedFor) {
  const Place place({.overrides = "drain.trigger=never pressure.low_water=50% pressure.high_water=60%"});
  const auto bytes = some_bytes(150'000);
  Child child([&] {
    auto buffer = place.attach();
    auto file = buffer->open(place.home("a"), O_RDWR | O_CREAT).value();
    if (!file->write(0, std::as_bytes(std::span(bytes)))) return 1;
    ::kill(::getpid(), SIGKILL);
    return 2;
  });
  const auto status = child.wait(20s);
  ASSERT_TRUE(status && Child::was_killed(*status));
  std::filesystem::rename(place.disk("nvme"), place.disk("away"));
  std::filesystem::create_directory(place.disk("nvme"));
  const auto refused = Buffer::attach(place.settings());
  ASSERT_FALSE(refused) << "it would have to give up what lies there";
  EXPECT_NE(refused.error().message.find("nvme"), std::string::npos) << refused.error().message;
  std::filesystem::remove_all(place.disk("nvme"));
  std::filesystem::rename(place.disk("away"), place.disk("nvme"));
  auto buffer = place.attach();
  buffer->recover();
  EXPECT_TRUE(buffer->drain(20s));
  EXPECT_TRUE(Place::slurp(place.home("a")) == bytes);
}

}  // namespace
}  // namespace forebay::testing
