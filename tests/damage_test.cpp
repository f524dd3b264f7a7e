// Damaged control and data files of a buffer whose processes are all dead: whatever is flipped, cut, replaced
// or given to somebody else, no byte arrives at home that was not acknowledged, nothing crashes and nothing
// hangs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "base/log.hpp"
#include "engine/attach.hpp"
#include "engine/layout.hpp"
#include "os/fd.hpp"
#include "os/private_file.hpp"
#include "support/child.hpp"
#include "support/place.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::size_t kHomeSize = 150'000;
constexpr unsigned kFileCount = 3;

// The files as they were at home, and as they would be with all that was acknowledged.
struct Content {
  std::string old;
  std::string acknowledged;
};

// What is in the buffer's files, to be put back before each damage.
struct Image {
  std::string path;
  std::string bytes;
};

class Damage : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::Off); }

  // A buffer with unsaved bytes in both tiers, as lists and as maps, that a killed process left.
  void leave_behind(const Place& place, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (unsigned f = 0; f < kFileCount; ++f) {
      auto& content = contents_[f];
      content.old.resize(kHomeSize);
      for (auto& c : content.old) c = static_cast<char>(random());
      content.acknowledged = content.old;
      write_home(place, f);
    }
    const auto operations = random();
    plan(operations, nullptr);
    Child child([&] {
      auto buffer = place.attach();
      buffer->pause_drain(true);
      std::vector<std::shared_ptr<File>> files;
      for (unsigned f = 0; f < kFileCount; ++f)
        files.push_back(buffer->open(place.home(name(f)), O_RDWR).value());
      plan(operations, &files);
      // Some of it moves to the lower tier.
      std::this_thread::sleep_for(30ms);
      ::kill(::getpid(), SIGKILL);
      return 0;
    });
    const auto status = child.wait(60s);
    ASSERT_TRUE(status && Child::was_killed(*status)) << status.value_or(-1);
    for (const auto& path : {place.control("control"), place.control("sparse"), data_file(place, "memory"),
                             data_file(place, "nvme")}) {
      images_.push_back({path, Place::slurp(path)});
      ASSERT_FALSE(images_.back().bytes.empty()) << path;
    }
  }
  static std::string name(unsigned f) { return "f" + std::to_string(f); }
  static std::string data_file(const Place& place, const std::string& tier) {
    const auto base = (tier == "memory" ? place.memory("") : place.disk("nvme")) + "/forebay-" +
                      std::to_string(::geteuid());
    return base + "/default/" + tier + ".data";
  }
  void write_home(const Place& place, unsigned f) const {
    std::ofstream(place.home(name(f)), std::ios::binary) << contents_[f].old;
  }

  // The same random writes for the model (without files) and for the process.
  void plan(std::uint64_t seed, std::vector<std::shared_ptr<File>>* files) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 60; ++i) {
      const auto f = static_cast<unsigned>(random() % kFileCount);
      const auto at = random() % (kHomeSize / 3);
      const bool dotted = i % 20 == 19;
      const auto length = dotted ? 120 : 1 + random() % 3000;
      for (std::uint64_t k = 0; k < length; k += dotted ? 2 : length) {
        std::string bytes(dotted ? 1 : length, '\0');
        for (auto& c : bytes) c = static_cast<char>(random());
        if (files == nullptr) {
          contents_[f].acknowledged.replace(at + k, bytes.size(), bytes);
        } else if (!(*files)[f]->write(at + k, std::as_bytes(std::span(bytes)))) {
          throw std::runtime_error("a write was refused");
        }
      }
    }
  }

  // Everything as the dead left it.
  void restore(const Place& place) const {
    for (const auto& image : images_) {
      const Fd fd(::open(image.path.c_str(), O_RDWR | O_CREAT, 0600));
      ASSERT_TRUE(fd) << image.path;
      // Written in place: a mapping of a file that was cut keeps its holes otherwise.
      ASSERT_EQ(::ftruncate(fd.get(), 0), 0);
      ASSERT_EQ(::posix_fallocate(fd.get(), 0, static_cast<off_t>(image.bytes.size())), 0);
      ASSERT_TRUE(write_fully(fd.get(), image.bytes.data(), image.bytes.size(), 0));
    }
    for (unsigned f = 0; f < kFileCount; ++f) write_home(place, f);
  }

  // What `forebay recover` does. It may refuse; it must not die, hang, or leave a wrong byte at home.
  struct Outcome {
    int attached;  // errno, 0 if it was
    int drained;
  };
  Outcome recover(const Place& place) {
    int answer[2];
    if (::pipe(answer) != 0) throw std::runtime_error("no pipe");
    Child child([&] {
      Outcome outcome{};
      auto buffer = Buffer::attach(place.settings(), {.create = true, .background = false});
      outcome.attached = buffer ? 0 : buffer.error().code;
      if (buffer) {
        (*buffer)->recover();
        const auto drained = (*buffer)->drain(5s);
        outcome.drained = drained ? 0 : drained.error().code;
        (void)(*buffer)->detach();
      }
      return ::write(answer[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1;
    });
    ::close(answer[1]);
    const auto status = child.wait(60s);
    EXPECT_TRUE(status) << "the recovery hangs";
    EXPECT_TRUE(!status || Child::was_well(*status)) << "the recovery died: status " << status.value_or(0);
    Outcome outcome{-1, -1};
    (void)!::read(answer[0], &outcome, sizeof outcome);
    ::close(answer[0]);
    return outcome;
  }
  void expect_nothing_invented(const Place& place) {
    for (unsigned f = 0; f < kFileCount; ++f) {
      const auto found = Place::slurp(place.home(name(f)));
      const auto& content = contents_[f];
      ASSERT_TRUE(fs::exists(place.home(name(f)))) << "the file was removed";
      ASSERT_EQ(found.size(), content.old.size()) << name(f);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] == content.old[i] || found[i] == content.acknowledged[i]) continue;
        FAIL() << name(f) << " has a byte at home that nobody wrote, at " << i;
      }
    }
  }
  [[nodiscard]] bool all_home(const Place& place) const {
    for (unsigned f = 0; f < kFileCount; ++f) {
      if (Place::slurp(place.home(name(f))) != contents_[f].acknowledged) return false;
    }
    return true;
  }

  std::array<Content, kFileCount> contents_;
  std::vector<Image> images_;
};

constexpr const char* kSettings =
    "pressure.low_water=40% pressure.high_water=60% limits.home_wait=5s limits.lock_wait=2s";

void flip(const std::string& path, std::uint64_t byte, unsigned bit) {
  const Fd fd(::open(path.c_str(), O_RDWR));
  unsigned char c = 0;
  ASSERT_EQ(::pread(fd.get(), &c, 1, static_cast<off_t>(byte)), 1);
  c = static_cast<unsigned char>(c ^ (1u << bit));
  ASSERT_EQ(::pwrite(fd.get(), &c, 1, static_cast<off_t>(byte)), 1);
}

TEST_F(Damage, WithoutAnyEverythingGoesHome) {
  const Place place({.overrides = kSettings});
  leave_behind(place, choose_seed("damage"));
  for (int i = 0; i < 2; ++i) {
    restore(place);
    const auto outcome = recover(place);
    EXPECT_EQ(outcome.attached, 0);
    EXPECT_EQ(outcome.drained, 0);
    EXPECT_TRUE(all_home(place));
  }
}

TEST_F(Damage, FlippedBitsAreNeverWrittenHome) {
  const auto seed = choose_seed("damage");
  std::mt19937_64 random(seed);
  const Place place({.overrides = kSettings});
  leave_behind(place, seed);
  const auto rounds = scaled(60, 3000);
  int noticed = 0;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(format_text("seed {} round {}", seed, round));
    restore(place);
    const auto& image = images_[random() % images_.size()];
    const auto flips = 1 + random() % (round % 3 == 0 ? 200 : 3);
    for (std::uint64_t i = 0; i < flips; ++i) {
      // The header is a small part and would hardly be struck.
      const auto end =
          random() % 8 == 0 ? std::min<std::uint64_t>(image.bytes.size(), 4096) : image.bytes.size();
      flip(image.path, random() % end, static_cast<unsigned>(random() % 8));
    }
    const auto outcome = recover(place);
    if (outcome.attached != 0 || outcome.drained != 0) ++noticed;
    expect_nothing_invented(place);
  }
  std::printf("%d of %d damages were noticed\n", noticed, rounds);
}

TEST_F(Damage, EveryWordOfTheRecordsMayBeWrong) {
  // Flips where they hurt most: the words of file records, bucket descriptors and the shared part.
  const auto seed = choose_seed("damage");
  std::mt19937_64 random(seed);
  const Place place({.overrides = kSettings});
  leave_behind(place, seed);
  const auto& control = images_[0];
  const auto& header = *reinterpret_cast<const Header*>(control.bytes.data());
  std::vector<std::uint64_t> used;  // bytes of records in use
  const auto note = [&](std::uint64_t from, std::uint64_t size) {
    for (auto i = from; i < from + size; ++i) used.push_back(i);
  };
  note(header.regions.shared, sizeof(Shared));
  for (std::uint32_t f = 0; f < kFileCount; ++f)
    note(header.regions.files + f * sizeof(FileRecord), sizeof(FileRecord));
  for (std::uint32_t b = 0; b < header.bucket_count; ++b) {
    const auto at = header.regions.buckets + b * sizeof(Bucket);
    const auto& bucket = *reinterpret_cast<const Bucket*>(control.bytes.data() + at);
    if (bucket.key.load() != 0) note(at, sizeof(Bucket));
  }
  note(header.regions.owners, header.bucket_count * sizeof(Word));
  note(header.regions.slots, header.slot_count * sizeof(SlotWord));
  const auto rounds = scaled(150, 10'000);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(format_text("seed {} round {}", seed, round));
    restore(place);
    const auto at = used[random() % used.size()];
    for (auto i = 1 + random() % 2; i > 0; --i) flip(control.path, at, static_cast<unsigned>(random() % 8));
    (void)recover(place);
    expect_nothing_invented(place);
    if (HasFailure()) std::printf("byte %llu of the control file\n", static_cast<unsigned long long>(at));
  }
}

TEST_F(Damage, BucketsThatNameEachOthersPlaceAreNotWrittenHome) {
  const Place place({.overrides = kSettings});
  const auto size = place.settings().buffer.bucket_size;
  const std::string old(2 * size, 'o');
  std::ofstream(place.home("a")) << old;
  Child child([&] {
    auto buffer = place.attach();
    buffer->pause_drain(true);
    const auto file = buffer->open(place.home("a"), O_RDWR).value();
    auto& core = buffer->core();
    std::array<Word*, 2> places{};
    // Whole, so that their byte states are the same.
    for (const std::uint64_t block : {0, 1}) {
      const std::string bytes(size, block == 0 ? 'x' : 'y');
      if (!file->write(block * size, std::as_bytes(std::span(bytes)))) return 1;
      const auto found = core.buckets.find(core.files.key(file->number(), block));
      if (!found) return 2;
      places[block] = &core.control.bucket(*found).place;
    }
    places[1]->store(places[0]->exchange(places[1]->load()));
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  const auto status = child.wait(60s);
  ASSERT_TRUE(status && Child::was_killed(*status)) << status.value_or(-1);
  EXPECT_NE(recover(place).drained, 0);
  EXPECT_EQ(Place::slurp(place.home("a")), old);
}

TEST_F(Damage, CutFilesAreRefused) {
  const auto seed = choose_seed("damage");
  std::mt19937_64 random(seed);
  const Place place({.overrides = kSettings});
  leave_behind(place, seed);
  for (const auto& image : images_) {
    for (int round = 0; round < 4; ++round) {
      SCOPED_TRACE(format_text("seed {} {}", seed, image.path));
      restore(place);
      const auto size = round == 0 ? 1 : round == 1 ? image.bytes.size() - 1 : random() % image.bytes.size();
      ASSERT_EQ(::truncate(image.path.c_str(), static_cast<off_t>(size)), 0);
      const auto outcome = recover(place);
      EXPECT_NE(outcome.attached, 0) << size << " of " << image.bytes.size() << " bytes";
      expect_nothing_invented(place);
      restore(place);
      EXPECT_EQ(recover(place).drained, 0);
      EXPECT_TRUE(all_home(place)) << "what was refused was not left alone";
    }
  }
}

TEST_F(Damage, AnotherVersionIsRefusedAndKept) {
  const Place place({.overrides = kSettings});
  leave_behind(place, choose_seed("damage"));
  flip(place.control("control"), offsetof(Header, version), 3);
  EXPECT_EQ(recover(place).attached, EPROTO);
  expect_nothing_invented(place);
  flip(place.control("control"), offsetof(Header, version), 3);
  EXPECT_EQ(recover(place).drained, 0);
  EXPECT_TRUE(all_home(place));
}

TEST_F(Damage, FilesOfAnotherOwnerAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root can give files away";
  const Place place({.overrides = kSettings});
  leave_behind(place, choose_seed("damage"));
  for (const auto& image : images_) {
    ASSERT_EQ(::chown(image.path.c_str(), 1, 1), 0);
    EXPECT_EQ(recover(place).attached, EPERM) << image.path;
    ASSERT_EQ(::chown(image.path.c_str(), 0, 0), 0);
    ASSERT_EQ(::chmod(image.path.c_str(), 0644), 0);
    EXPECT_EQ(recover(place).attached, EPERM) << image.path;
    ASSERT_EQ(::chmod(image.path.c_str(), 0600), 0);
    const auto directory = fs::path(image.path).parent_path();
    ASSERT_EQ(::chown(directory.c_str(), 1, 1), 0);
    EXPECT_EQ(recover(place).attached, EPERM) << directory;
    ASSERT_EQ(::chown(directory.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(recover(place).drained, 0);
  EXPECT_TRUE(all_home(place));
}

TEST_F(Damage, LinksInTheWayAreRefused) {
  const Place place({.overrides = kSettings});
  leave_behind(place, choose_seed("damage"));
  for (const auto& image : images_) {
    const auto aside = image.path + ".aside";
    fs::rename(image.path, aside);
    fs::create_symlink(aside, image.path);
    EXPECT_EQ(recover(place).attached, EPERM) << image.path;
    fs::remove(image.path);
    fs::create_hard_link(aside, image.path);
    EXPECT_EQ(recover(place).attached, EPERM) << image.path;
    fs::remove(image.path);
    ASSERT_EQ(::mkfifo(image.path.c_str(), 0600), 0);
    EXPECT_EQ(recover(place).attached, EPERM) << image.path;
    fs::remove(image.path);
    fs::rename(aside, image.path);
  }
  EXPECT_EQ(recover(place).drained, 0);
  EXPECT_TRUE(all_home(place));
}

TEST_F(Damage, ALeaseFileInOtherHandsIsRefused) {
  const Place place({.overrides = kSettings});
  leave_behind(place, choose_seed("damage"));
  const auto leases = place.control("leases");
  fs::rename(leases, leases + ".aside");
  fs::create_symlink(leases + ".aside", leases);
  EXPECT_EQ(recover(place).attached, EPERM);
  fs::remove(leases);
  fs::rename(leases + ".aside", leases);
  EXPECT_EQ(recover(place).drained, 0);
  EXPECT_TRUE(all_home(place));
}

}  // namespace
}  // namespace forebay::testing
