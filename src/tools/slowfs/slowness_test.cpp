#include "tools/slowfs/slowness.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>

namespace forebay::slowfs {
namespace {

const Slowness::Abandoned kNever = [] { return false; };

class SlownessTest : public testing::Test {
 protected:
  void set(std::string_view lines) {
    const Status status = slowness_.configure(lines, statistics_);
    ASSERT_TRUE(status) << status.error().message;
  }
  int write() { return slowness_.admit(Kind::Write, true, kNever); }
  int read() { return slowness_.admit(Kind::Read, false, kNever); }

  Statistics statistics_;
  Slowness slowness_{Settings{}};
};

TEST_F(SlownessTest, NothingAskedNothingHappens) {
  EXPECT_EQ(write(), 0);
  EXPECT_EQ(read(), 0);
}

TEST_F(SlownessTest, TheNthWriteFromNowFailsOnce) {
  EXPECT_EQ(write(), 0);
  set("fail_nth_write=3,ENOSPC");
  EXPECT_EQ(write(), 0);
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(write(), 0);
  EXPECT_EQ(write(), ENOSPC);
  EXPECT_EQ(write(), 0);
}

TEST_F(SlownessTest, EachKindFailsAlone) {
  set("fail_write=EDQUOT\nfail_fsync=EIO\n");
  EXPECT_EQ(write(), EDQUOT);
  EXPECT_EQ(slowness_.admit(Kind::Fsync, false, kNever), EIO);
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(slowness_.admit(Kind::Open, false, kNever), 0);
  set("fail_write=none\nfail_fsync=none\nfail_open=EACCES\nfail_close=EIO\nfail_read=ESTALE");
  EXPECT_EQ(write(), 0);
  EXPECT_EQ(slowness_.admit(Kind::Open, false, kNever), EACCES);
  EXPECT_EQ(slowness_.admit(Kind::Close, false, kNever), EIO);
  EXPECT_EQ(read(), ESTALE);
}

TEST_F(SlownessTest, ReadOnlyRefusesWhatChanges) {
  set("read_only=yes");
  EXPECT_EQ(write(), EROFS);
  EXPECT_EQ(slowness_.admit(Kind::Change, true, kNever), EROFS);
  EXPECT_EQ(read(), 0);
}

TEST_F(SlownessTest, LinesApplyAllOrNone) {
  EXPECT_FALSE(slowness_.configure("fail_write=EIO\nlatency=soon\n", statistics_));
  EXPECT_EQ(write(), 0);
  EXPECT_FALSE(slowness_.configure("reset_statistics", statistics_));
}

TEST_F(SlownessTest, AHangHoldsWritesUntilReleased) {
  set("hang=writes");
  std::atomic<bool> through = false;
  std::thread writer([&] {
    EXPECT_EQ(write(), 0);
    through = true;
  });
  EXPECT_EQ(read(), 0);
  EXPECT_FALSE(through);
  set("hang=none");
  writer.join();
  EXPECT_TRUE(through);
}

TEST_F(SlownessTest, AHangWithATimeEnds) {
  set("hang=all,1ms");
  EXPECT_EQ(read(), 0);
}

TEST_F(SlownessTest, AnAbandonedRequestDoesNotHang) {
  set("hang=all");
  EXPECT_EQ(slowness_.admit(Kind::Read, false, [] { return true; }), EINTR);
}

TEST_F(SlownessTest, ARaisedBandwidthFreesWhoWaits) {
  set("write_bandwidth=1");
  std::atomic<bool> waits = false;
  const auto note_waiting = [&] {
    waits = true;
    return false;
  };
  std::thread writer([&] { slowness_.pace(Kind::Write, 1'000'000, Slowness::Clock::now(), note_waiting); });
  while (!waits) std::this_thread::yield();
  set("write_bandwidth=0");
  writer.join();
}

TEST_F(SlownessTest, AnAnswerIsNeverEarly) {
  set("write_bandwidth=1MB\nlatency=2ms");
  const auto arrival = Slowness::Clock::now();
  slowness_.pace(Kind::Write, 3'000, arrival, kNever);
  EXPECT_GE(Slowness::Clock::now() - arrival, std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace forebay::slowfs
