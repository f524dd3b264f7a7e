// What is clean of a file when the last of the node has closed it: kept, or dropped where that was wished.
#include <gtest/gtest.h>

#include "engine/carrier.hpp"
#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

const std::string kText(10'000, 'x');

class AfterClose : public ::testing::Test {
 protected:
  explicit AfterClose(const std::string& settings = "after_close=drop")
      : test_(settings + " admission.read=always") {
    std::ofstream(test_.home("a")) << kText;
  }
  [[nodiscard]] std::shared_ptr<File> read_by(Buffer& buffer) {
    auto file = buffer.open(test_.home("a"), O_RDONLY).value();
    EXPECT_EQ(TestBuffer::read_all(*file), kText);
    return file;
  }
  // Of this file, there is no other.
  [[nodiscard]] bool any_left(std::uint32_t number) {
    return test_->core().control.file(number).buckets.load() != 0;
  }

  TestBuffer test_;
};

class KeptAfterClose : public AfterClose {
 protected:
  KeptAfterClose() : AfterClose("") {}
};

TEST_F(KeptAfterClose, ServesTheNextWhoOpensIt) {
  const auto number = read_by(*test_)->number();
  EXPECT_TRUE(any_left(number));
  const auto hits = test_->core().counted(&Counters::hit_bytes);
  (void)read_by(*test_);
  EXPECT_EQ(test_->core().counted(&Counters::hit_bytes) - hits, kText.size());
}

TEST_F(KeptAfterClose, ByOneWishItGoes) {
  auto file = read_by(*test_);
  file->keep_after_close(false);
  const auto number = file->number();
  file.reset();
  EXPECT_FALSE(any_left(number));
}

TEST_F(AfterClose, GoesWithTheLastCloseOfTheNode) {
  auto file = read_by(*test_);
  const auto number = file->number();
  const auto other = Buffer::attach(test_.settings()).value();
  auto there = read_by(*other);
  file.reset();
  EXPECT_TRUE(any_left(number));
  there.reset();
  EXPECT_FALSE(any_left(number));
  (void)read_by(*test_);
}

TEST_F(AfterClose, GoesWhenTheProcessLeavesWithoutClosing) {
  const auto other = Buffer::attach(test_.settings()).value();
  const auto file = read_by(*other);
  EXPECT_TRUE(any_left(file->number()));
  ASSERT_TRUE(other->detach());
  EXPECT_FALSE(any_left(file->number()));
}

TEST_F(AfterClose, WhatIsNotHomeYetGoesWhenItIs) {
  const auto write = [&](Buffer& buffer) {
    const auto wish = [](FileSettings& settings) {
      settings.on_close = OnClose::Detach;
      settings.drain_trigger = DrainTrigger::Exit;
    };
    const auto file = buffer.open(test_.home("a"), O_RDWR, 0666, wish).value();
    EXPECT_EQ(file->write(0, bytes_of("new")), 3u);
    return file->number();
  };
  const auto number = write(*test_);
  EXPECT_TRUE(TestBuffer::eventually([&] { return !any_left(number); }));
  EXPECT_TRUE(TestBuffer::slurp(test_.home("a")).starts_with("new"));
}

TEST_F(AfterClose, WhatADrainOfOthersCarriedHomeGoesAsWell) {
  AttachOptions quiet;
  quiet.background = false;
  std::uint32_t number = 0;
  {
    const auto other = Buffer::attach(test_.settings(), quiet).value();
    const auto wish = [](FileSettings& settings) { settings.on_close = OnClose::Detach; };
    const auto file = other->open(test_.home("a"), O_RDWR, 0666, wish).value();
    EXPECT_EQ(file->write(0, bytes_of("new")), 3u);
    number = file->number();
  }
  EXPECT_TRUE(any_left(number));
  Carrier carrier(test_->core());
  carrier.start({number}, std::chrono::steady_clock::now() + std::chrono::seconds(60));
  ASSERT_TRUE(carrier.finished(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_FALSE(any_left(number));
  EXPECT_TRUE(TestBuffer::slurp(test_.home("a")).starts_with("new"));
}

}  // namespace
}  // namespace forebay
