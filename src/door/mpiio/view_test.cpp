#include "door/mpiio/view.hpp"

#include <gtest/gtest.h>

namespace forebay::mpiio {
namespace {

std::vector<Run> pieces(const View& view, std::uint64_t position, std::uint64_t length) {
  std::vector<Run> all;
  const auto status = view.for_each(position, length, [&](std::uint64_t at, std::uint64_t piece) {
    all.push_back({static_cast<std::int64_t>(at), static_cast<std::int64_t>(piece)});
    return Result<bool>(true);
  });
  EXPECT_TRUE(status);
  return all;
}

using Runs = std::vector<Run>;

TEST(View, AtFirstShowsTheWholeFile) { EXPECT_EQ(pieces(View{}, 7, 5), (Runs{{7, 5}})); }

TEST(View, AContiguousTypeIsOnePieceWhateverItsSize) {
  const View view(100, 4, {.runs = {{0, 4}}, .size = 4, .extent = 4});
  EXPECT_EQ(pieces(view, 4, 1000), (Runs{{104, 1000}}));
}

TEST(View, AContiguousTypeThatBeginsLaterMovesEverything) {
  const View view(100, 1, {.runs = {{8, 4}}, .size = 4, .extent = 4});
  EXPECT_EQ(pieces(view, 0, 8), (Runs{{108, 8}}));
}

TEST(View, GoesFromTileToTile) {
  const View view(10, 1, {.runs = {{0, 2}, {5, 1}}, .size = 3, .extent = 8});
  EXPECT_EQ(pieces(view, 0, 7), (Runs{{10, 2}, {15, 1}, {18, 2}, {23, 1}, {26, 1}}));
}

TEST(View, BeginsInTheMiddleOfAPieceAndOfATile) {
  const View view(0, 1, {.runs = {{1, 3}, {6, 2}}, .size = 5, .extent = 10});
  EXPECT_EQ(pieces(view, 12, 4), (Runs{{23, 1}, {26, 2}, {31, 1}}));
}

TEST(View, NothingIsNoPiece) {
  const View view(0, 1, {.runs = {{1, 3}, {6, 2}}, .size = 5, .extent = 10});
  EXPECT_EQ(pieces(view, 5, 0), Runs{});
}

TEST(View, StopsWhenItIsTold) {
  const View view(0, 1, {.runs = {{0, 1}}, .size = 1, .extent = 2});
  int seen = 0;
  EXPECT_TRUE(view.for_each(0, 100, [&](std::uint64_t, std::uint64_t) { return Result<bool>(++seen < 3); }));
  EXPECT_EQ(seen, 3);
}

TEST(View, HandsOnAnError) {
  const View view(0, 1, {.runs = {{0, 1}}, .size = 1, .extent = 2});
  const auto status =
      view.for_each(0, 100, [&](std::uint64_t, std::uint64_t) { return Result<bool>(fail(EIO, "no")); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, EIO);
}

}  // namespace
}  // namespace forebay::mpiio
