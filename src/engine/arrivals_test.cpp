#include "engine/arrivals.hpp"

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

constexpr auto kLong = std::chrono::minutes(5);

// Two members of one buffer, and a block of a file that one of them has a bucket for.
class ArrivalsOfTwo : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(test_.home("f")) << std::string(40'000, 'x');
    auto attached = Buffer::attach(test_.settings());
    ASSERT_TRUE(attached) << attached.error().message;
    other_ = std::move(*attached);
    const auto& core = test_->core();
    file_ = test_.open(test_.home("f"), O_RDONLY);
    key_ = core.files.key(file_->number(), 0);
    std::string one(1, '?');
    ASSERT_TRUE(file_->read(0, writable_bytes_of(one)));
    const auto found = core.buckets.find(key_);
    ASSERT_TRUE(found);
    bucket_ = *found;
    // A block that was missed is brought whole.
    ASSERT_TRUE(file_->prefetch(0, 1).wait(kLong));
  }

  TestBuffer test_{"admission.read=always readahead.max=0"};
  std::unique_ptr<Buffer> other_;
  std::shared_ptr<File> file_;
  Key key_ = 0;
  std::uint32_t bucket_ = 0;
};

TEST_F(ArrivalsOfTwo, OneBringsAndTheOthersWait) {
  const Arrivals mine(test_->core());
  const Arrivals theirs(other_->core());
  EXPECT_FALSE(theirs.wait(key_, kLong));
  ASSERT_TRUE(mine.begin(bucket_));
  EXPECT_FALSE(theirs.begin(bucket_));
  EXPECT_FALSE(mine.begin(bucket_));
  // Whether it comes before the end or after, it returns long before its patience ends.
  std::thread waits([&] { (void)theirs.wait(key_, kLong); });
  mine.end(bucket_);
  waits.join();
  EXPECT_TRUE(theirs.begin(bucket_));
  mine.end(bucket_);  // not its own: nothing happens
  EXPECT_FALSE(mine.begin(bucket_));
  theirs.end(bucket_);
}

TEST_F(ArrivalsOfTwo, WhatTheDeadBroughtIsNotWaitedFor) {
  const Arrivals mine(test_->core());
  const Arrivals theirs(other_->core());
  ASSERT_TRUE(theirs.begin(bucket_));
  other_.reset();
  EXPECT_TRUE(mine.wait(key_, kLong));
  EXPECT_FALSE(mine.wait(key_, kLong)) << "the mark is gone";
  EXPECT_TRUE(mine.begin(bucket_));
}

TEST_F(ArrivalsOfTwo, AWaitEndsWithItsPatience) {
  const Arrivals mine(test_->core());
  const Arrivals theirs(other_->core());
  ASSERT_TRUE(theirs.begin(bucket_));
  EXPECT_TRUE(mine.wait(key_, std::chrono::milliseconds(1)));
  EXPECT_TRUE(mine.begin(bucket_));
}

TEST_F(ArrivalsOfTwo, WhatTwoPrefetchComesFromHomeOnce) {
  std::ofstream(test_.home("g")) << std::string(48'000, 'y');
  const auto read_so_far = [&] {
    return test_->core().counters().home_read_bytes.load() + other_->core().counters().home_read_bytes.load();
  };
  const auto before = read_so_far();
  const auto here = test_.open(test_.home("g"), O_RDONLY);
  const auto there = other_->open(test_.home("g"), O_RDONLY);
  ASSERT_TRUE(there);
  const auto one = here->prefetch(0, 48'000);
  const auto two = (*there)->prefetch(0, 48'000);
  ASSERT_TRUE(one.wait(kLong));
  ASSERT_TRUE(two.wait(kLong));
  EXPECT_EQ(read_so_far() - before, 48'000u);
  const auto hits = test_->core().counted(&Counters::hit_bytes);
  EXPECT_EQ(TestBuffer::read_all(*here), std::string(48'000, 'y'));
  EXPECT_EQ(test_->core().counted(&Counters::hit_bytes) - hits, 48'000u);
}

}  // namespace
}  // namespace forebay
