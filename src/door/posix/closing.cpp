#include "door/posix/closing.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "door/posix/descriptors.hpp"
#include "engine/crew.hpp"
#include "session/session.hpp"

namespace forebay::posix {
namespace {

constexpr std::uint64_t kSlow = 200'000;  // nanoseconds: well above what it costs to wake a thread
constexpr unsigned kAtOnce = 8;
constexpr unsigned kLookAgain = 64;

constinit std::atomic<std::uint64_t> mean = 0;
constinit std::atomic<unsigned> turn = 0;

// Of one process: a forked child has none of these threads, and leaves its parent's alone.
struct Closers {
  std::uint32_t process = fork_generation();
  std::atomic<unsigned> under_way = 0;
  Crew crew{kAtOnce};
};
constinit std::atomic<Closers*> closers = nullptr;

Closers& of_this_process() {
  auto* there = closers.load(std::memory_order_acquire);
  if (there != nullptr && there->process == fork_generation()) return *there;
  auto* const made = new Closers;
  if (closers.compare_exchange_strong(there, made)) return *made;
  delete made;
  return *closers.load();
}

// Until the number is free, or closed and perhaps taken again.
void wait_until_free(int fd, const std::atomic<bool>& closed) {
  for (int spins = 0; !closed.load(std::memory_order_acquire); ++spins) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) return;
    if (spins < 200) {
      ::sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
}

}  // namespace

bool closing_is_slow() {
  // Now and then one is closed here, to see whether it is still so.
  return mean.load(std::memory_order_relaxed) > kSlow &&
         turn.fetch_add(1, std::memory_order_relaxed) % kLookAgain != 0;
}

void closing_took(std::uint64_t nanoseconds) {
  const auto before = mean.load(std::memory_order_relaxed);
  mean.store(before == 0 ? nanoseconds : before - before / 4 + nanoseconds / 4, std::memory_order_relaxed);
}

bool close_aside(int fd, std::shared_ptr<Open>& last) {
  auto& all = of_this_process();
  if (all.under_way.fetch_add(1) >= kAtOnce) {
    all.under_way.fetch_sub(1);
    return false;
  }
  const auto closed = std::make_shared<std::atomic<bool>>(false);
  const bool posted = all.crew.post([&all, fd, closed, open = last]() mutable {
    (void)::close(fd);
    closed->store(true, std::memory_order_release);
    open.reset();
    all.under_way.fetch_sub(1);
  });
  if (!posted) {
    all.under_way.fetch_sub(1);
    return false;
  }
  last.reset();
  wait_until_free(fd, *closed);
  return true;
}

void wait_for_closes() {
  const auto* const all = closers.load(std::memory_order_acquire);
  if (all == nullptr || all->process != fork_generation()) return;
  while (all->under_way.load() != 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

}  // namespace forebay::posix
