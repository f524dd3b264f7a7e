// What hints, modes of the open and rules of the configuration do to a file, seen by what comes of it: where
// its bytes lie, when they go home, and how.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/format.hpp"
#include "os/temporary_directory.hpp"
#include "support/door_run.hpp"
#include "support/places.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 2;

// What hinted.c writes without gaps.
std::string pieces() {
  std::string text;
  for (int number = 0; number < 32; ++number) {
    for (int rank = 0; rank < kRanks; ++rank)
      text.append(4096, static_cast<char>('a' + (rank * 7 + number) % 26));
  }
  return text;
}

// And with gaps, upon what was there.
std::string pieces_with_gaps(std::string text) {
  constexpr std::size_t kSmalls = 4096;
  text.resize(std::max(text.size(), 2 * kSmalls * 64 - 64 + kRanks * 8), '\0');
  for (std::size_t i = 0; i < 2 * kSmalls; ++i) {
    for (std::size_t rank = 0; rank < kRanks; ++rank)
      text.replace(i * 64 + rank * 8, 8, 8, static_cast<char>('A' + rank * 7 + i / kSmalls));
  }
  return text;
}

std::string random_bytes(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761u >> 11);
  return text;
}

class MpiioHints : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::string file() const { return place_.file("file"); }
  // `steps` of hinted.c on two ranks.
  [[nodiscard]] Words hinted(const std::string& steps, const std::string& path, Words hints = {}) const {
    Words words{built("tests/mpiio/mpiio_hinted_") + GetParam(), steps, path};
    words.insert(words.end(), hints.begin(), hints.end());
    return words;
  }
  Ran run(const std::string& steps, Words hints = {}) { return run(door_, steps, std::move(hints)); }
  Ran run(const DoorRun& door, const std::string& steps, Words hints = {}) {
    const auto words = hinted(steps, file(), std::move(hints));
    const auto ran = door.run(Door::kMpiio, place_.path(), door.on_ranks(kRanks, words));
    if (!steps.contains('a')) {
      EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    }
    return ran;
  }
  // Of the buffer's status, `d`.
  static std::string told(const DoorRun& door, const std::string& expression, int node = 0) {
    return json_value(door.forebay({"status", "--json"}, node).out, "d['buffers'][0]" + expression);
  }
  [[nodiscard]] std::string unsaved() const { return told(door_, "['unsaved_bytes']"); }
  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 600; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  TemporaryDirectory place_{"/dev/shm"};
  // Nothing goes home by itself.
  DoorRun door_{GetParam(), {"FOREBAY_DRAIN_TRIGGER=close"}};
};

// They stayed in the buffer, and might have ended in a later file with the same number.
TEST_P(MpiioHints, ADeletedFileTakesItsUnsavedBytesAlong) {
  (void)run("wa");
  ASSERT_EQ(unsaved(), std::to_string(pieces().size()));
  run("x");
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_TRUE(eventually([&] { return unsaved() == "0"; })) << unsaved();
  EXPECT_EQ(told(door_, "['known_files']"), "0");
}

TEST_P(MpiioHints, AFileThatIsDeletedUnderOneOfItsNamesIsNot) {
  (void)run("wa");
  fs::create_hard_link(file(), place_.file("other"));
  run("x");
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(door_.forebay({"recover"}).code, 0);
  EXPECT_TRUE(slurp(place_.file("other")) == pieces());
}

// All of it went home first, to be removed then.
TEST_P(MpiioHints, WhatIsDeletedOnCloseDoesNotGoHome) {
  run("wrd");
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(told(door_, "['totals']['home_written_bytes']"), "0");
  EXPECT_EQ(unsaved(), "0");
  EXPECT_EQ(told(door_, "['known_files']"), "0");
}

TEST_P(MpiioHints, WhatIsDeletedOnCloseUnderOneOfItsNamesGoesHome) {
  std::ofstream(file()).close();
  fs::create_hard_link(file(), place_.file("other"));
  run("wd");
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_TRUE(slurp(place_.file("other")) == pieces());
}

TEST_P(MpiioHints, DeletedOnCloseOnTwoNodes) {
  const auto ran = door_.run(Door::kMpiio, place_.path(), door_.on_nodes(2, kRanks, hinted("wd", file())));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(fs::exists(file()));
  for (int node = 0; node < 2; ++node) EXPECT_EQ(told(door_, "['known_files']", node), "0");
}

// Of a view, by MPI's own sieving where it has that. Each of 8,192 pieces was a request.
TEST_P(MpiioHints, PiecesWithGapsAreWrittenAsMpiWritesThem) {
  const auto before = random_bytes(600'000);
  for (const char* steps : {"g", "c", "wg", "wc", "wcgcs", "uwgcgp"}) {
    std::ofstream(file()) << before;
    const DoorRun door(GetParam(), {"FOREBAY_DRAIN_TRIGGER=close"});
    run(door, steps);
    auto wanted = before;
    if (std::string_view(steps).contains('w')) wanted.replace(0, pieces().size(), pieces());
    EXPECT_TRUE(slurp(file()) == pieces_with_gaps(wanted)) << steps;
    const bool together = std::string_view(steps).contains('c');
    if (together || std::string_view(GetParam()) == "mpich") {
      EXPECT_TRUE(told(door, "['passed']").contains("narrow gaps")) << steps;
    }
    if (std::string_view(steps).size() == 1 && (together || std::string_view(GetParam()) == "mpich")) {
      EXPECT_LE(std::stoi(told(door, "['totals']['home_writes']")), 100) << steps;
    }
  }
}

TEST_P(MpiioHints, Tier) {
  const TemporaryDirectory one("/dev/shm");
  const TemporaryDirectory two("/dev/shm");
  const DoorRun door(GetParam(),
                     {"FOREBAY_DRAIN_TRIGGER=close",
                      format_text("FOREBAY_TIERS=memory:{}:8MiB,memory:{}:8MiB", one.path(), two.path())});
  for (const char* tier : {"memory", "memory2"}) {
    (void)run(door, "wa", {format_text("forebay_tier={}", tier)});
    EXPECT_EQ(told(door, format_text("['files'][0]['tiers']['{}']", tier)), std::to_string(pieces().size()));
    run(door, "x");
  }
}

// Bytes are home when a write returns: nothing is left of a job that ends without a close.
TEST_P(MpiioHints, DurabilityHomeAndModeSync) {
  for (const char* hint : {"forebay_durability=home", "forebay_mode=sync"}) {
    fs::remove(file());
    (void)run("wa", {hint});
    EXPECT_TRUE(slurp(file()) == pieces()) << hint;
    EXPECT_EQ(unsaved(), "0") << hint;
  }
}

TEST_P(MpiioHints, ModeBypass) {
  run("wr", {"forebay_mode=bypass"});
  EXPECT_TRUE(slurp(file()) == pieces());
  EXPECT_EQ(told(door_, "['totals']['staged_bytes']"), "0");
}

TEST_P(MpiioHints, ModeScratch) {
  (void)run("wsa", {"forebay_mode=scratch"});
  EXPECT_EQ(told(door_, "['totals']['home_written_bytes']"), "0");
}

TEST_P(MpiioHints, OnFlush) {
  (void)run("wsa", {"forebay_on_flush=stage"});
  EXPECT_EQ(unsaved(), std::to_string(pieces().size()));
  (void)run("wsa");
  EXPECT_EQ(unsaved(), "0");
  EXPECT_TRUE(slurp(file()) == pieces());
}

TEST_P(MpiioHints, OnClose) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  const SlowfsMount home({"--latency=200ms"});
  const auto path = home.path() / "file";
  Running job("env", door_.words(Door::kMpiio, home.path(),
                                 door_.on_ranks(kRanks, hinted("w", path, {"forebay_on_close=detach"}))));
  EXPECT_EQ(job.wait().code, 0);
  // Whoever carries it home is another process.
  EXPECT_TRUE(eventually([&] { return unsaved() == "0"; })) << unsaved();
  EXPECT_TRUE(slurp(home.source() / "file") == pieces());
  EXPECT_EQ(told(door_, "['totals']['close_wait_ns']"), "0");
}

TEST_P(MpiioHints, Reserve) {
  Running job("env", door_.words(Door::kMpiio, place_.path(),
                                 door_.on_ranks(kRanks, hinted("k", file(),
                                                               {"forebay_reserve_size=60MiB",
                                                                "forebay_reserve_kind=hard"}))));
  ASSERT_TRUE(eventually([&] { return fs::exists(file() + ".ready"); }));
  // Another file has what is left of 64 MiB.
  std::ofstream(place_.file("other")).close();
  const auto ran = door_.run(
      Door::kMpiio, place_.path(),
      door_.on_ranks(
          1, hinted("w", place_.file("other"), {"forebay_reserve_size=8MiB", "forebay_reserve_kind=hard"})));
  std::ofstream(file() + ".go").close();
  EXPECT_EQ(job.wait().code, 0);
  EXPECT_TRUE(ran.err.contains("reserve")) << ran.err;
}

TEST_P(MpiioHints, ByARuleOfTheConfiguration) {
  std::ofstream(place_.file("rules.yaml"))
      << "files:\n  - {match: \"*.direct\", mode: bypass}\n  - {match: \"*\", durability: home}\n";
  const DoorRun door(GetParam(),
                     {"FOREBAY_DRAIN_TRIGGER=close", "FOREBAY_CONFIG=" + place_.file("rules.yaml")});
  const auto direct = place_.file("a.direct");
  EXPECT_EQ(door.run(Door::kMpiio, place_.path(), door.on_ranks(kRanks, hinted("w", direct))).code, 0);
  EXPECT_TRUE(slurp(direct) == pieces());
  EXPECT_EQ(told(door, "['totals']['staged_bytes']"), "0");
  run(door, "wa");
  EXPECT_TRUE(slurp(file()) == pieces());
}

// How much each node brings at the open, and that nobody waits for it.
class MpiioPrefetch : public MpiioHints {
 protected:
  void look(const char* how, std::uint64_t least, std::uint64_t most) {
    constexpr std::uint64_t kSize = 4u << 20;
    const auto bytes = random_bytes(kSize);
    std::ofstream(file()) << bytes;
    Running job(
        "env",
        door_.words(Door::kMpiio, place_.path(),
                    door_.on_nodes(2, kRanks,
                                   hinted("kr", file(), {format_text("forebay_prefetch_at_open={}", how)}))));
    ASSERT_TRUE(eventually([&] { return fs::exists(file() + ".ready"); }));
    const auto held = [&](int node) { return std::stoull("0" + told(door_, "['buffered_bytes']", node)); };
    EXPECT_TRUE(eventually([&] { return held(0) >= least && held(1) >= least; }))
        << held(0) << " " << held(1);
    EXPECT_LE(held(0), most);
    EXPECT_LE(held(1), most);
    std::ofstream(file() + ".go").close();
    const auto ran = job.wait();
    EXPECT_EQ(ran.code, 0) << ran.err;
    unsigned long long sum = 0;
    for (const char byte : bytes) sum = sum * 31 + static_cast<unsigned char>(byte);
    EXPECT_EQ(ran.out, format_text("{} bytes, sum {:x}\n", kSize, sum));
  }
};

TEST_P(MpiioPrefetch, PartsAreSpreadOverTheNodes) { look("part", 2u << 20, (2u << 20) + (64u << 10)); }
TEST_P(MpiioPrefetch, FilesAreBroughtToEachNode) { look("file", 4u << 20, 4u << 20); }
TEST_P(MpiioPrefetch, NothingIsBroughtUnlessItIsAskedFor) { look("none", 0, 0); }

TEST_P(MpiioPrefetch, NobodyWaitsForPartsThatHeDoesNotTouch) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  // To read all of it takes home longer than the program may take.
  const SlowfsMount home({"--read-bandwidth=8MB"});
  const auto at_home = home.source() / "file";
  std::ofstream(at_home).close();
  fs::resize_file(at_home, 2u << 30);
  const auto ran =
      door_.run(Door::kMpiio, home.path(),
                door_.on_ranks(kRanks, hinted("w", home.path() / "file", {"forebay_prefetch_at_open=part"})));
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::string begins(pieces().size(), '?');
  std::ifstream(at_home).read(begins.data(), static_cast<std::streamsize>(begins.size()));
  EXPECT_TRUE(begins == pieces());
}

const auto kBoth = ::testing::Values("mpich", "openmpi");
const auto name_of = [](const auto& test) { return std::string(test.param); };
INSTANTIATE_TEST_SUITE_P(All, MpiioHints, kBoth, name_of);
INSTANTIATE_TEST_SUITE_P(All, MpiioPrefetch, kBoth, name_of);

}  // namespace
}  // namespace forebay::testing
