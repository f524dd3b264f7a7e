#include "tools/slowfs/rate_limiter.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace forebay::slowfs {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr uint64_t kMegabyte = 1'000'000;
const RateLimiter::Clock::time_point kStart{seconds(1000)};

TEST(RateLimiter, UnlimitedIsDueAtOnce) {
  RateLimiter line;
  const auto ticket = line.reserve(1'000'000'000'000, kStart);
  EXPECT_EQ(line.remaining(ticket, kStart), nanoseconds(0));
}

TEST(RateLimiter, OneRequestTakesItsShareOfASecond) {
  RateLimiter line(200 * kMegabyte, kStart);
  const auto ticket = line.reserve(kMegabyte, kStart);
  EXPECT_EQ(line.remaining(ticket, kStart), milliseconds(5));
  EXPECT_EQ(line.remaining(ticket, kStart + milliseconds(2)), milliseconds(3));
  EXPECT_EQ(line.remaining(ticket, kStart + milliseconds(5)), nanoseconds(0));
}

TEST(RateLimiter, ParallelWritersShareTheRate) {
  RateLimiter line(100 * kMegabyte, kStart);
  std::vector<RateLimiter::Ticket> tickets;
  for (int writer = 0; writer < 8; ++writer) tickets.push_back(line.reserve(kMegabyte, kStart));
  for (int writer = 0; writer < 8; ++writer) {
    EXPECT_EQ(line.remaining(tickets[static_cast<size_t>(writer)], kStart), milliseconds(10 * (writer + 1)));
  }
}

TEST(RateLimiter, IdleTimeIsNotSavedUp) {
  RateLimiter line(100 * kMegabyte, kStart);
  line.reserve(kMegabyte, kStart);
  const auto later = kStart + seconds(60);
  EXPECT_EQ(line.remaining(line.reserve(kMegabyte, later), later), milliseconds(10));
}

TEST(RateLimiter, BackToBackRequestsLoseNothingToLateWaking) {
  RateLimiter line(100 * kMegabyte, kStart);
  const auto first = line.reserve(kMegabyte, kStart);
  const auto second = line.reserve(kMegabyte, kStart);
  EXPECT_EQ(line.remaining(first, kStart + milliseconds(13)), nanoseconds(0));
  EXPECT_EQ(line.remaining(second, kStart + milliseconds(13)), milliseconds(7));
}

TEST(RateLimiter, ArrivalBeforeTheReservationCounts) {
  RateLimiter line(100 * kMegabyte, kStart);
  const auto ticket = line.reserve(kMegabyte, kStart);  // arrived at kStart, reserved 4 ms later
  EXPECT_EQ(line.remaining(ticket, kStart + milliseconds(4)), milliseconds(6));
  EXPECT_EQ(line.remaining(line.reserve(kMegabyte, kStart), kStart + milliseconds(4)), milliseconds(16));
}

TEST(RateLimiter, AChangeOfRateAppliesToWhatIsQueued) {
  RateLimiter line(kMegabyte, kStart);
  const auto ticket = line.reserve(10 * kMegabyte, kStart);
  EXPECT_EQ(line.remaining(ticket, kStart + seconds(5)), seconds(5));
  line.set_rate(100 * kMegabyte, kStart + seconds(5));
  EXPECT_EQ(line.remaining(ticket, kStart + seconds(5)), milliseconds(50));
  line.set_rate(0, kStart + seconds(5));
  EXPECT_EQ(line.remaining(ticket, kStart + seconds(5)), nanoseconds(0));
  line.set_rate(kMegabyte, kStart + seconds(6));
  EXPECT_EQ(line.remaining(line.reserve(kMegabyte, kStart + seconds(6)), kStart + seconds(6)), seconds(1));
}

}  // namespace
}  // namespace forebay::slowfs
