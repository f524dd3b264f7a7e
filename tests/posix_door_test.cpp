// Commands with the POSIX door: what they do to files of a home, and that they were buffered.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/forebay_run.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t x = 12345;
  for (auto& c : text) {
    x = x * 1664525 + 1013904223;
    c = static_cast<char>(x >> 24);
  }
  return text;
}

struct PosixDoor : ::testing::Test {
  PosixPlace place;
  void expect_good(const Ran& ran) {
    EXPECT_EQ(ran.code, 0) << "signal " << ran.signal << "\n" << ran.out << ran.err;
  }
};

TEST_F(PosixDoor, DdWritesThroughTheBuffer) {
  const auto text = pattern(3'000'000);
  std::ofstream(place.root("in")) << text;
  expect_good(
      place.run({"dd", "if=" + place.root("in"), "of=" + place.home("out"), "bs=10000", "status=none"}));
  EXPECT_TRUE(slurp(place.home("out")) == text);
  EXPECT_EQ(place.reported("d['staged_bytes']"), "3000000") << slurp(place.root("report.json"));
}

TEST_F(PosixDoor, CatReadsWhatAnotherHasStagedAndNotDrained) {
  const auto file = place.home("a");
  const auto ran = place.shell("exec 3>" + file + "; printf staged >&3; cat " + file + "; stat -c ' %s' " +
                                   file + "; head -c 3 " + file,
                               {"drain.trigger=never"});
  expect_good(ran);
  EXPECT_EQ(ran.out, "staged 6\nsta");
  EXPECT_EQ(slurp(file), "staged");
}

TEST_F(PosixDoor, CpAndMvKeepBytesAndTimes) {
  const auto text = pattern(700'000);
  std::ofstream(place.home("in")) << text;
  expect_good(place.shell("cd " + place.home() +
                          " && touch -d '2001-02-03 04:05:06.789' in && cp -p in copy && mv copy moved"));
  EXPECT_TRUE(slurp(place.home("moved")) == text);
  struct stat moved{};
  ASSERT_EQ(::stat(place.home("moved").c_str(), &moved), 0);
  EXPECT_EQ(moved.st_mtim.tv_nsec, 789'000'000);
}

// As modules of Python do, and our own engine with tiers that are not mapped.
TEST_F(PosixDoor, ALibraryInAScopeOfItsOwnIsFound) {
  const auto ran = place.run({"python3", "-c",
                              "import ctypes\n"
                              "uring = ctypes.CDLL('liburing.so.2')\n"
                              "ring = ctypes.create_string_buffer(1024)\n"
                              "print(uring.io_uring_queue_init(4, ring, 0))\n"
                              "open('" +
                                  place.home("a") + "', 'w').write('text')\n"});
  expect_good(ran);
  EXPECT_EQ(ran.out, "0\n");
  EXPECT_EQ(slurp(place.home("a")), "text");
  EXPECT_EQ(place.reported("sum('io_uring' in p['why'] for p in d['passed'])"), "1")
      << "seen, and left to home";
}

TEST_F(PosixDoor, ATierThatIsNotMappedHasItsQueue) {
  const auto text = pattern(20'000'000);
  std::ofstream(place.root("in")) << text;
  fs::create_directory(place.root("nvme"));
  const auto ran =
      place.run({"dd", "if=" + place.root("in"), "of=" + place.home("out"), "bs=100000", "status=none"},
                {"tiers=nvme:" + place.root("nvme") + ":64MiB", "drain.trigger=never"});
  expect_good(ran);
  EXPECT_EQ(ran.err.find("one bucket at a time"), std::string::npos) << ran.err;
  EXPECT_TRUE(slurp(place.home("out")) == text);
}

TEST_F(PosixDoor, NothingOutsideOfTheHomesIsTouched) {
  expect_good(place.shell("echo text > " + place.plain("a") + "; cat " + place.plain("a")));
  EXPECT_EQ(slurp(place.plain("a")), "text\n");
  EXPECT_EQ(place.reported("d['staged_bytes']"), "0");
}

}  // namespace
}  // namespace forebay::testing
