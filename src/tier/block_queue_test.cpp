#include "tier/block_queue.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include "os/private_file.hpp"
#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBucket = 64 << 10;
constexpr std::uint64_t kSlots = 64;

class BlockQueueTest : public ::testing::TestWithParam<bool> {
 protected:
  BlockQueueTest() : store_(BlockStore::open(directory_.fd(), "nvme.data", kBucket, kSlots).value()) {
    EXPECT_TRUE(store_.grow(0, kSlots));
  }
  // Without a free descriptor there is no ring: the synchronous way.
  BlockQueue open_queue(unsigned depth, bool asynchronous = true) {
    if (asynchronous) {
      auto queue = BlockQueue::open(store_, depth, -1).value();
      if (!queue.asynchronous()) GTEST_LOG_(WARNING) << "no io_uring here: the synchronous way is tested";
      return queue;
    }
    rlimit before{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{3, before.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    auto queue = BlockQueue::open(store_, depth, -1).value();
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(queue.asynchronous());
    return queue;
  }
  // Each block of the memory says which slot and block it is of.
  static void mark(std::byte* memory, std::uint64_t slot) {
    for (std::uint64_t at = 0; at < kBucket; at += 8) {
      const auto value = slot << 32 | at;
      std::memcpy(memory + at, &value, 8);
    }
  }

  TemporaryDirectory directory_;
  BlockStore store_;
};

TEST_P(BlockQueueTest, EverySlotGoesThereAndBack) {
  auto queue = open_queue(16, GetParam());
  const auto memory = make_aligned_buffer(kBucket * kSlots);
  std::set<std::uint64_t> done;
  const auto reap = [&] {
    const auto next = queue.reap(10s);
    ASSERT_TRUE(next);
    EXPECT_TRUE(next->status) << next->status.error().message;
    EXPECT_TRUE(done.insert(next->cookie).second);
  };
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    mark(memory.get() + slot * kBucket, slot);
    while (!queue.submit_write(slot, memory.get() + slot * kBucket, slot)) reap();
  }
  while (queue.in_flight() > 0) reap();
  EXPECT_EQ(done.size(), kSlots);
  EXPECT_FALSE(queue.reap(0ms));

  std::memset(memory.get(), 0, kBucket * kSlots);
  done.clear();
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    while (!queue.submit_read(slot, 0, kBucket, memory.get() + slot * kBucket, slot)) reap();
  }
  while (queue.in_flight() > 0) reap();
  const auto expected = make_aligned_buffer(kBucket);
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    mark(expected.get(), slot);
    EXPECT_EQ(std::memcmp(memory.get() + slot * kBucket, expected.get(), kBucket), 0) << slot;
  }
}

TEST_P(BlockQueueTest, DepthIsALimit) {
  auto queue = open_queue(3, GetParam());
  const auto memory = make_aligned_buffer(kBucket);
  mark(memory.get(), 0);
  for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(queue.submit_write(i, memory.get(), i));
  EXPECT_FALSE(queue.submit_write(3, memory.get(), 3));
  EXPECT_FALSE(queue.submit_read(3, 0, kBucket, memory.get(), 3));
  EXPECT_EQ(queue.in_flight(), 3u);
  EXPECT_TRUE(queue.reap(10s));
  EXPECT_TRUE(queue.submit_write(3, memory.get(), 3));
}

TEST_P(BlockQueueTest, FailuresComeBackWithTheirCookieAndWords) {
  auto queue = open_queue(4, GetParam());
  const auto memory = make_aligned_buffer(kBucket);
  std::filesystem::resize_file(directory_.file("nvme.data"), kBucket);
  ASSERT_TRUE(queue.submit_read(5, 0, kBucket, memory.get(), 77));
  auto next = queue.reap(10s);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->cookie, 77u);
  ASSERT_FALSE(next->status);
  EXPECT_EQ(next->status.error().code, EIO);
  EXPECT_NE(next->status.error().message.find("nvme.data"), std::string::npos);

  ASSERT_TRUE(queue.submit_write(kSlots, memory.get(), 78));
  next = queue.reap(10s);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->cookie, 78u);
  EXPECT_EQ(next->status.error().code, EINVAL);
}

TEST_P(BlockQueueTest, UnalignedMemoryWorksAsWell) {
  auto queue = open_queue(4, GetParam());
  const auto memory = make_aligned_buffer(kBucket * 2);
  mark(memory.get() + 8, 3);
  ASSERT_TRUE(queue.submit_write(3, memory.get() + 8, 1));
  ASSERT_TRUE(queue.reap(10s)->status);
  std::vector<std::byte> back(1001);
  ASSERT_TRUE(queue.submit_read(3, 4097, 1000, back.data() + 1, 2));
  ASSERT_TRUE(queue.reap(10s)->status);
  EXPECT_EQ(std::memcmp(back.data() + 1, memory.get() + 8 + 4097, 1000), 0);
}

INSTANTIATE_TEST_SUITE_P(Way, BlockQueueTest, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "Asynchronous" : "Synchronous"; });

TEST_F(BlockQueueTest, DestructionWaitsForWhatIsUnderWay) {
  const auto memory = make_aligned_buffer(kBucket);
  mark(memory.get(), 9);
  {
    auto queue = open_queue(8);
    for (unsigned slot = 0; slot < 8; ++slot) ASSERT_TRUE(queue.submit_write(slot, memory.get(), slot));
  }
  const auto back = make_aligned_buffer(kBucket);
  for (unsigned slot = 0; slot < 8; ++slot) {
    ASSERT_TRUE(store_.read(slot, 0, kBucket, back.get()));
    EXPECT_EQ(std::memcmp(memory.get(), back.get(), kBucket), 0);
  }
}

TEST_F(BlockQueueTest, HasNoDescriptorThatAChildCouldInherit) {
  const auto count = [] {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
    return n;
  };
  const auto before = count();
  auto queue = open_queue(8);
  EXPECT_EQ(count(), before);
  const pid_t child = ::fork();
  if (child == 0) {
    {
      const BlockQueue taken = std::move(queue);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const auto memory = make_aligned_buffer(kBucket);
  mark(memory.get(), 1);
  ASSERT_TRUE(queue.submit_write(1, memory.get(), 1));
  EXPECT_TRUE(queue.reap(10s)->status);
}

TEST_F(BlockQueueTest, RefusesImpossibleDepths) {
  EXPECT_EQ(BlockQueue::open(store_, 0, -1).error().code, EINVAL);
  EXPECT_EQ(BlockQueue::open(store_, 100000, -1).error().code, EINVAL);
}

}  // namespace
}  // namespace forebay
