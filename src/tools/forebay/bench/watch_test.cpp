#include "tools/forebay/bench/watch.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

// The first rank's close was taken for the last one of all.
TEST(RoundWatch, TheLastCloseIsThatOfTheLastRank) {
  const TemporaryDirectory place;
  const auto file = place.file("progress");
  double done = 0;
  RoundWatch watch(
      {.progress_file = file, .control = "", .ranks = 2, .progress = [&](double part) { done = part; }});
  std::ofstream(file) << "began 10.5\ndone 0.5\nclosed 14.5\n";
  watch.look();
  EXPECT_EQ(done, 0.5);
  EXPECT_EQ(watch.closed(), 0) << "a rank is still at work";
  std::ofstream(file, std::ios::app) << "closed 12.5\n";
  watch.look();
  EXPECT_EQ(watch.closed(), 4);
}

// A line that is being written is read when it is whole.
TEST(RoundWatch, HalfALineIsNotRead) {
  const TemporaryDirectory place;
  const auto file = place.file("progress");
  RoundWatch watch({.progress_file = file, .control = ""});
  std::ofstream(file) << "began 10.5\nclosed 1";
  watch.look();
  EXPECT_EQ(watch.closed(), 0);
  std::ofstream(file, std::ios::app) << "2.5\n";
  watch.look();
  EXPECT_EQ(watch.closed(), 2);
}

}  // namespace
}  // namespace forebay
