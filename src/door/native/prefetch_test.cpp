// What is kept close by, through forebay.h.
#include <cerrno>

#include "door/native/test_place.hpp"

namespace forebay::native {
namespace {

class NativePrefetch : public ::testing::Test {
 protected:
  NativePrefetch() { std::ofstream(path_) << text_; }
  ~NativePrefetch() override { EXPECT_EQ(forebay_detach(buffer_), 0) << forebay_error_message(); }

  [[nodiscard]] uint64_t home_reads() const {
    forebay_statistics statistics{};
    statistics.size = sizeof statistics;
    EXPECT_EQ(forebay_get_statistics(buffer_, FOREBAY_SCOPE_PROCESS, &statistics), 0);
    return statistics.home_reads;
  }

  TestPlace place_;
  forebay_buffer* buffer_ = place_.attach({"readahead.max=0"});
  const std::string path_ = place_.home("file");
  const std::string text_ = std::string(30'000, 'x');
};

TEST_F(NativePrefetch, BringsTheRangeSoThatHomeIsNotAskedAgain) {
  auto* file = open_file(buffer_, path_, O_RDONLY);
  forebay_ticket* ticket = nullptr;
  ASSERT_EQ(forebay_prefetch(file, 0, 30'000, &ticket), 0) << forebay_error_message();
  EXPECT_EQ(forebay_ticket_wait(ticket, -1), 30'000);
  EXPECT_EQ(forebay_ticket_test(ticket), 1);
  EXPECT_EQ(forebay_ticket_wait(ticket, 0), 30'000) << "a second wait tells the same";
  forebay_ticket_free(ticket);
  const auto before = home_reads();
  EXPECT_EQ(read_text(file, 40'000, 0), text_);
  EXPECT_EQ(home_reads(), before);
  EXPECT_EQ(forebay_close(file), 0);
}

TEST_F(NativePrefetch, ATicketMayBeLeftAloneOrOutliveTheBuffer) {
  auto* other = place_.attach();
  auto* file = open_file(other, path_, O_RDONLY);
  EXPECT_EQ(forebay_prefetch(file, 0, 5000, nullptr), 0);
  forebay_ticket* dropped = nullptr;
  EXPECT_EQ(forebay_prefetch(file, 5000, 5000, &dropped), 0);
  forebay_ticket_free(dropped);
  forebay_ticket* kept = nullptr;
  EXPECT_EQ(forebay_prefetch(file, 10'000, 5000, &kept), 0);
  EXPECT_EQ(forebay_detach(other), 0);
  // What had not begun when the process left is not brought any more.
  const auto came = forebay_ticket_wait(kept, 0);
  EXPECT_TRUE(came >= 0 || came == -ECANCELED) << came;
  forebay_ticket_free(kept);
  forebay_ticket_free(nullptr);
  EXPECT_EQ(forebay_close(file), -ENOTCONN);
}

TEST_F(NativePrefetch, WhatCannotStartIsAnError) {
  auto* file = open_file(buffer_, path_, O_WRONLY);
  forebay_ticket* ticket = nullptr;
  EXPECT_EQ(forebay_prefetch(file, 0, 100, &ticket), -EBADF);
  EXPECT_EQ(ticket, nullptr);
  EXPECT_EQ(forebay_ticket_wait(nullptr, 0), -EINVAL);
  EXPECT_EQ(forebay_ticket_test(nullptr), -EINVAL);
  EXPECT_EQ(forebay_close(file), 0);
}

TEST_F(NativePrefetch, PinnedBytesSurviveAnEviction) {
  auto* file = open_file(buffer_, path_, O_RDONLY);
  ASSERT_EQ(forebay_pin(file, 0, 8192), 0) << forebay_error_message();
  auto before = home_reads();
  EXPECT_EQ(forebay_evict(file, 0, 30'000), 0);
  EXPECT_EQ(read_text(file, 8192, 0), text_.substr(0, 8192));
  EXPECT_EQ(home_reads(), before);
  ASSERT_EQ(forebay_unpin(file, 0, 8192), 0);
  EXPECT_EQ(forebay_evict(file, 0, 30'000), 0);
  EXPECT_EQ(read_text(file, 8192, 0), text_.substr(0, 8192));
  EXPECT_GT(home_reads(), before);
  EXPECT_EQ(forebay_close(file), 0);
}

TEST_F(NativePrefetch, HintsNeverChangeWhatIsRead) {
  auto* file = open_file(buffer_, path_, O_RDWR);
  for (int hint = FOREBAY_HINT_NORMAL; hint <= FOREBAY_HINT_EXCLUSIVE; ++hint) {
    EXPECT_EQ(forebay_hint(file, hint, 0, 20'000), 0) << hint;
    EXPECT_EQ(read_text(file, 40'000, 0), text_) << hint;
  }
  EXPECT_EQ(forebay_hint(file, 77, 0, 1), -EINVAL);
  EXPECT_EQ(forebay_close(file), 0);
}

}  // namespace
}  // namespace forebay::native
