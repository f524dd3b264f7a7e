// What files claim for themselves.
#include "engine/reservations.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

constexpr const char* kOnRequest = "drain.trigger=never pressure.wait=1ms readahead.max=0";

class Reservations : public ::testing::Test {
 protected:
  // 16 buckets of 4 KiB in memory and nothing below.
  Reservations()
      : memory_("/dev/shm"), test_(std::string(kOnRequest) + " tiers=memory:" + memory_.path() + ":64KiB") {
    test_->pause_drain(true);  // also under pressure
  }

  Result<std::shared_ptr<File>> open(const std::string& name, std::uint64_t bytes, ReserveKind kind) {
    return test_->open(test_.home(name), O_RDWR | O_CREAT, 0666, [=](FileSettings& s) {
      s.reserve_size = bytes;
      s.reserve_kind = kind;
    });
  }
  static void write(File& file, int blocks) {
    const std::string page(4096, 'x');
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(blocks); ++i)
      ASSERT_TRUE(file.write(i * 4096, bytes_of(page)));
  }
  std::uint64_t staged() { return test_->core().counted(&Counters::staged_bytes) / 4096; }

  TemporaryDirectory memory_;
  TestBuffer test_;
};

TEST_F(Reservations, WhatIsClaimedHardIsKeptFree) {
  const auto claims = open("claims", 32 << 10, ReserveKind::Hard);
  ASSERT_TRUE(claims);
  const auto other = test_.open(test_.home("other"), O_RDWR | O_CREAT);
  write(*other, 16);
  EXPECT_EQ(staged(), 8u) << "the rest went straight home";
  write(**claims, 8);
  EXPECT_EQ(staged(), 16u);
  EXPECT_EQ(test_->core().counted(&Counters::waits_for_room), 0u);
  ASSERT_TRUE(other->close());
  ASSERT_TRUE((*claims)->close());
  EXPECT_EQ(TestBuffer::slurp(test_.home("other")), std::string(65'536, 'x'));
  EXPECT_EQ(TestBuffer::slurp(test_.home("claims")), std::string(32'768, 'x'));
  // With its last user the claim ends.
  const auto later = test_.open(test_.home("later"), O_RDWR | O_CREAT);
  write(*later, 16);
  EXPECT_EQ(staged(), 32u);
}

TEST_F(Reservations, ASoftWishDoesNotWeakenAHardClaim) {
  const auto claims = open("a", 32 << 10, ReserveKind::Hard);
  ASSERT_TRUE(claims);
  const auto again = open("a", 8 << 10, ReserveKind::Soft);
  ASSERT_TRUE(again);
  EXPECT_EQ((*claims)->reserved(), 32u << 10);
  const auto other = test_.open(test_.home("other"), O_RDWR | O_CREAT);
  write(*other, 16);
  EXPECT_EQ(staged(), 8u);
}

TEST_F(Reservations, AClaimThatIsRefusedChangesNothing) {
  const auto first = open("a", 32 << 10, ReserveKind::Hard);
  ASSERT_TRUE(first);
  const auto more = open("a", 128 << 10, ReserveKind::Hard);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ENOSPC);
  EXPECT_EQ((*first)->reserved(), 32u << 10);
  const auto second = open("b", 40 << 10, ReserveKind::Hard);
  ASSERT_FALSE(second);
  const auto third = open("b", 32 << 10, ReserveKind::Hard);
  EXPECT_TRUE(third) << "nothing is kept for who was refused";
}

TEST_F(Reservations, AMemberThatDiesClaimsNothing) {
  const auto other = test_.open(test_.home("other"), O_RDWR | O_CREAT);
  const auto child = ::fork();
  if (child == 0) {
    auto mine = Buffer::attach(test_.settings());
    if (!mine) ::_exit(1);
    const auto claims = (*mine)->open(test_.home("claims"), O_RDWR | O_CREAT, 0666, [](FileSettings& s) {
      s.reserve_size = 32 << 10;
      s.reserve_kind = ReserveKind::Hard;
    });
    ::_exit(claims ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  test_->recover();
  write(*other, 16);
  EXPECT_EQ(staged(), 16u);
}

}  // namespace
}  // namespace forebay
