// A held file: nothing of it arrives at home meanwhile, whoever on the node would carry it there.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/carrier.hpp"
#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(50);

class Hold : public ::testing::Test {
 protected:
  Hold() : test_("drain.trigger=exit") {
    std::ofstream(test_.home("a")) << "old";
    held_ = open_past(*test_);
    EXPECT_EQ(held_->write(0, bytes_of("new")), 3u);
  }
  std::shared_ptr<File> open_past(Buffer& buffer) {
    return buffer.open(test_.home("a"), O_RDWR, 0666, [](FileSettings& s) { s.written_past = true; }).value();
  }
  // A member that counts as another process.
  [[nodiscard]] std::unique_ptr<Buffer> another(int number = 1) const {
    auto buffer = Buffer::attach(test_.settings()).value();
    buffer->core().peers.record().pid.store(-number);
    return buffer;
  }
  [[nodiscard]] std::string home() const { return TestBuffer::slurp(test_.home("a")); }
  // What `forebay drain` does.
  static bool carried(Buffer& buffer, std::uint32_t file, std::chrono::nanoseconds patience) {
    Carrier carrier(buffer.core());
    carrier.start({file}, std::chrono::steady_clock::now() + patience);
    (void)carrier.finished(std::chrono::steady_clock::now() + std::chrono::seconds(60));
    return carrier.outcomes().front().status && *carrier.outcomes().front().status;
  }

  TestBuffer test_;
  std::shared_ptr<File> held_{};
};

TEST_F(Hold, CountsForOtherProcessesOfTheNode) {
  const auto other = another();
  held_->hold_drain();
  EXPECT_FALSE(carried(*other, held_->number(), kMoment));
  const auto reader = other->open(test_.home("a"), O_RDONLY).value();
  EXPECT_FALSE(other->drain(kMoment));
  EXPECT_EQ(home(), "old");
  // Whoever held it may wait for the bytes.
  EXPECT_TRUE(held_->drain());
  EXPECT_EQ(home(), "new");
  EXPECT_EQ(held_->write(0, bytes_of("NEW")), 3u);
  held_->let_drain_go();
  EXPECT_TRUE(carried(*other, held_->number(), std::chrono::seconds(60)));
  EXPECT_EQ(home(), "NEW");
}

TEST_F(Hold, DoesNotStopAnotherMemberOfTheProcess) {
  const auto door = Buffer::attach(test_.settings()).value();
  const auto rank = another(2);
  const auto held_there = open_past(*rank);
  held_->hold_drain();
  held_there->hold_drain();
  EXPECT_TRUE(carried(*door, held_->number(), std::chrono::seconds(60)));
  EXPECT_EQ(home(), "new");
}

TEST_F(Hold, LastsUntilTheLastOfTheProcessAndOfTheNodeLetsGo) {
  const auto other = another();
  const auto rank = another(2);
  const auto held_there = open_past(*rank);
  held_->hold_drain();
  held_->hold_drain();
  held_there->hold_drain();
  held_->let_drain_go();
  EXPECT_FALSE(carried(*other, held_->number(), kMoment));
  held_->let_drain_go();
  EXPECT_FALSE(carried(*other, held_->number(), kMoment));
  // Ranks hold by themselves: what one of them waits for is carried, whatever the others hold.
  EXPECT_TRUE(carried(*test_, held_->number(), std::chrono::seconds(60)));
  EXPECT_EQ(held_->write(0, bytes_of("NEW")), 3u);
  held_there->let_drain_go();
  EXPECT_TRUE(carried(*other, held_->number(), std::chrono::seconds(60)));
}

TEST_F(Hold, EndsWithTheDeathOfTheProcess) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto child = ::fork();
  if (child == 0) {
    auto buffer = Buffer::attach(test_.settings());
    const auto file = open_past(**buffer);
    file->hold_drain();
    (void)!::write(ends[1], "y", 1);
    ::pause();
    ::_exit(0);
  }
  char ready = 'n';
  ASSERT_EQ(::read(ends[0], &ready, 1), 1);
  const auto other = another();
  EXPECT_FALSE(carried(*other, held_->number(), kMoment));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(carried(*other, held_->number(), std::chrono::seconds(60)));
  other->recover();
  EXPECT_EQ(test_->core().control.file(held_->number()).flags.load() & kFileHeld, 0u);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace forebay
