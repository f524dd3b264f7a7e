#include "door/mpiio/shared_pointer.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace forebay::mpiio {
namespace {

TEST(SharedPointer, MovesForAllWhoFoundIt) {
  auto mine = SharedPointer::make(7);
  ASSERT_TRUE(mine) << mine.error().message;
  auto others = SharedPointer::find(mine->ticket());
  ASSERT_TRUE(others) << others.error().message;
  mine->found_by_all();
  EXPECT_EQ(others->take(3), 7);
  EXPECT_EQ(mine->take(1), 10);
  EXPECT_EQ(others->position(), 11);
}

TEST(SharedPointer, BeginsAnewForEachView) {
  auto mine = SharedPointer::make(7);
  ASSERT_TRUE(mine) << mine.error().message;
  auto others = SharedPointer::find(mine->ticket());
  ASSERT_TRUE(others) << others.error().message;
  for (int view = 0; view < 5; ++view) {
    // One goes on before the other has come out.
    others->restart(false);
    EXPECT_EQ(others->take(5), 0);
    mine->restart(true);
    EXPECT_EQ(mine->position(), 5);
  }
}

TEST(SharedPointer, AnotherFileInItsPlaceIsToldApart) {
  auto one = SharedPointer::make(0);
  auto two = SharedPointer::make(0);
  ASSERT_TRUE(one && two);
  auto ticket = one->ticket();
  ticket.stamp = two->ticket().stamp;
  EXPECT_FALSE(SharedPointer::find(ticket));
  EXPECT_FALSE(SharedPointer::find({}));
  const auto gone = two->ticket();
  two->found_by_all();
  EXPECT_FALSE(SharedPointer::find(gone));
}

}  // namespace
}  // namespace forebay::mpiio
