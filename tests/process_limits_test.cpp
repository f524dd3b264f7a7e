// Limits of a process that are meant for its program, and a system that has nothing more to give: no member
// of a buffer dies of them, disturbs the others, or loses a byte.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>

#include "base/log.hpp"
#include "engine/status.hpp"
#include "support/child.hpp"
#include "support/owner.hpp"
#include "support/place.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;

class ProcessLimits : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::Off); }
};

std::string letters(std::size_t size, char c) { return std::string(size, c); }
std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void limit(int which, rlim_t value) {
  const rlimit both{value, value};
  if (::setrlimit(static_cast<__rlimit_resource>(which), &both) != 0) throw std::runtime_error("setrlimit");
}
std::shared_ptr<File> open(Buffer& buffer, const std::string& path) {
  auto file = buffer.open(path, O_RDWR | O_CREAT);
  if (!file) throw std::runtime_error(file.error().message);
  return *file;
}
void put(File& file, std::uint64_t at, const std::string& text) {
  const auto done = file.write(at, bytes_of(text));
  if (!done || *done != text.size()) throw std::runtime_error(done ? "short" : done.error().message);
}
void must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

constexpr std::size_t kMiB = 1u << 20;
// What a tier reserves at once is more than what the small member may write.
std::string tiers_of(const std::string& memory, const std::string& disk) {
  return "tiers=memory:" + memory + ":16MiB,nvme:" + disk + ":32MiB";
}

void write_twelve(const Place& place, const std::string& prefix) {
  auto buffer = place.attach();
  for (char c = 'a'; c < 'm'; ++c) {
    auto file = open(*buffer, place.home(prefix + c));
    for (std::size_t at = 0; at < kMiB; at += 64u << 10) put(*file, at, letters(64u << 10, c));
    must(file->close());
  }
  must(buffer->detach());
}
void expect_twelve(const Place& place, const std::string& prefix) {
  for (char c = 'a'; c < 'm'; ++c)
    EXPECT_TRUE(Place::slurp(place.home(prefix + c)) == letters(kMiB, c)) << prefix << c;
}

TEST_F(ProcessLimits, AMemberThatMayNotWriteLargeFilesOutgrowsNothing) {
  const Place first;
  const Place place({.bucket_kib = 64,
                     .overrides = tiers_of(first.memory(""), first.disk("nvme")) +
                                  " drain.trigger=close pressure.wait=20ms buffer.bucket_size=64KiB"});
  const auto owner = place.attach();
  put(*open(*owner, place.home("owner")), 0, "here before");
  Child member([&] {
    limit(RLIMIT_FSIZE, 2 * kMiB);
    write_twelve(place, "small-");
    return 0;
  });
  const auto status = member.wait(60s);
  ASSERT_TRUE(status);
  EXPECT_TRUE(Child::was_well(*status)) << "status " << *status;
  expect_twelve(place, "small-");
  const auto seen = look_at_buffer(place.settings());
  ASSERT_TRUE(seen);
  for (const auto& tier : seen->tiers) EXPECT_EQ(tier.failed, 0) << tier.name;
  // And the others go on as before.
  Child other([&] {
    write_twelve(place, "large-");
    return 0;
  });
  EXPECT_TRUE(other.finished());
  expect_twelve(place, "large-");
}

TEST_F(ProcessLimits, WhoMayNotMakeTheBuffersFilesIsTold) {
  const Place place;
  Child member([&] {
    limit(RLIMIT_FSIZE, 4096);
    const auto attached = Buffer::attach(place.settings());
    return !attached && attached.error().code == EFBIG ? 0 : 1;
  });
  const auto status = member.wait(60s);
  ASSERT_TRUE(status);
  EXPECT_TRUE(Child::was_well(*status)) << "status " << *status;
  EXPECT_TRUE(place.attach()->attached());
}

TEST_F(ProcessLimits, WhoMayOnlyReadGetsWhatAnotherHoldsBackHome) {
  const Place place({.overrides = "drain.trigger=never limits.home_wait=15s"});
  const Owner writer(place.settings(), [&](Buffer& buffer) {
    static auto file = open(buffer, place.home("a"));
    put(*file, 0, "held back");
  });
  ::chmod(place.home("a").c_str(), 0444);
  Child reader([&] {
    auto buffer = place.attach();
    const auto file = buffer->open(place.home("a"), O_RDONLY).value();
    // Whom the mode of a file does not hold.
    if (::geteuid() == 0 && ::seteuid(65'534) != 0) return 1;
    must(file->drain_all());
    return 0;
  });
  EXPECT_TRUE(reader.finished());
  EXPECT_EQ(Place::slurp(place.home("a")), "held back");
}

// Staged or not: what the kernel would not let the program write is not taken either.
TEST_F(ProcessLimits, TheProgramsOwnWritesEndWhereTheKernelsWould) {
  for (const char* mode : {"async", "bypass"}) {
    const Place place({.overrides = std::string("mode=") + mode});
    const auto owner = place.attach();
    Child member([&] {
      limit(RLIMIT_FSIZE, 10'000);
      std::signal(SIGXFSZ, SIG_IGN);
      auto buffer = place.attach();
      auto file = open(*buffer, place.home("a"));
      const auto across = file->write(9'000, bytes_of(letters(3'000, 'x')));
      if (!across || *across != 1'000) return 1;
      const auto beyond = file->write(10'000, bytes_of("x"));
      if (beyond || beyond.error().code != EFBIG) return 2;
      if (file->append(bytes_of("x"))) return 3;
      put(*file, 0, "inside");
      must(file->close());
      return 0;
    });
    const auto status = member.wait(60s);
    ASSERT_TRUE(status);
    EXPECT_TRUE(Child::was_well(*status)) << mode << ": status " << *status;
    EXPECT_TRUE(Place::slurp(place.home("a")) == "inside" + letters(8'994, '\0') + letters(1'000, 'x'))
        << mode;
    Child killed([&] {
      limit(RLIMIT_CORE, 0);
      limit(RLIMIT_FSIZE, 10'000);
      auto buffer = place.attach();
      (void)open(*buffer, place.home("b"))->write(10'000, bytes_of("x"));
      return 0;
    });
    const auto end = killed.wait(60s);
    ASSERT_TRUE(end);
    EXPECT_TRUE(WIFSIGNALED(*end) && WTERMSIG(*end) == SIGXFSZ) << mode << ": status " << *end;
  }
}

// A user of its own, because nothing limits the threads of root.
void have_no_threads() {
  constexpr uid_t kNobodyElse = 54'321;
  if (::geteuid() == 0 &&
      (::setgroups(0, nullptr) != 0 || ::setgid(kNobodyElse) != 0 || ::setuid(kNobodyElse) != 0))
    throw std::runtime_error("cannot become somebody else");
  if (::chdir("/tmp") != 0) throw std::runtime_error("no /tmp");
  limit(RLIMIT_NPROC, 1);
  std::thread thread;
  try {
    thread = std::thread([] {});
  } catch (const std::system_error&) {
    return;
  }
  thread.join();
  throw std::runtime_error("there is a thread all the same");
}

TEST_F(ProcessLimits, WithoutAThreadToBeHadEverythingGoesHome) {
  Child child([&] {
    have_no_threads();
    const Place place({.overrides = "pressure.wait=5ms"});
    std::string expected;
    {
      auto buffer = place.attach();
      auto file = open(*buffer, place.home("a"));
      // More than the tiers hold.
      for (int i = 0; i < 100; ++i) {
        put(*file, expected.size(), letters(5'000, static_cast<char>('a' + i % 26)));
        expected += letters(5'000, static_cast<char>('a' + i % 26));
      }
      std::string back(expected.size(), '?');
      const auto got = file->read(0, std::as_writable_bytes(std::span(back)));
      if (!got || back != expected) return 1;
      if (!file->prefetch(0, 20'000).wait(10s)) return 2;
      must(file->sync());
      if (Place::slurp(place.home("a")) != expected) return 3;
      put(*file, 0, "closed");
      must(file->close());
      if (Place::slurp(place.home("a")).substr(0, 6) != "closed") return 4;
      auto left = buffer->open(place.home("left"), O_RDWR | O_CREAT, 0666,
                               [](FileSettings& s) { s.on_close = OnClose::Detach; });
      if (!left) return 5;
      put(**left, 0, "left behind");
      must((*left)->close());
      must(buffer->drain(10s));
      if (Place::slurp(place.home("left")) != "left behind") return 6;
      put(*open(*buffer, place.home("last")), 0, "last");
      must(buffer->detach());
    }
    return Place::slurp(place.home("last")) == "last" ? 0 : 7;
  });
  const auto status = child.wait(60s);
  ASSERT_TRUE(status);
  EXPECT_TRUE(Child::was_well(*status)) << "status " << *status;
}

}  // namespace
}  // namespace forebay::testing
