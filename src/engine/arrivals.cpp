#include "engine/arrivals.hpp"

#include "os/futex.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kWaitTick = std::chrono::milliseconds(20);

// generation:5 | slot + 1:11 of who brings it. A slot that another process has taken since is told apart but
// for one in 32 times, and then a wait ends by its patience.
std::uint32_t mark_of(LeaseId id) {
  return ((lease_generation(id) & 31) << 11 | (lease_slot(id) + 1)) << kBucketComingShift;
}

}  // namespace

bool Arrivals::living(std::uint32_t mark) const {
  if (mark == mark_of(core_.peers.self())) return true;
  const auto slot = (mark >> kBucketComingShift & 2047) - 1;
  if (slot >= core_.control.header().lease_count) return false;
  const LeaseId now = core_.control.lease(slot).generation.load() << 11 | slot << 1;
  return mark == mark_of(now) && core_.peers.alive(now);
}

bool Arrivals::begin(std::uint32_t bucket) const {
  auto& flags = core_.control.bucket(bucket).flags;
  auto seen = flags.load(std::memory_order_relaxed);
  const auto mine = mark_of(core_.peers.self());
  for (;;) {
    const auto mark = seen & kBucketComing;
    if (mark != 0 && living(mark)) return false;
    if (flags.compare_exchange_weak(seen, (seen & ~kBucketComing) | mine)) return true;
  }
}

void Arrivals::end(std::uint32_t bucket) const {
  auto& flags = core_.control.bucket(bucket).flags;
  auto seen = flags.load(std::memory_order_relaxed);
  const auto mine = mark_of(core_.peers.self());
  while ((seen & kBucketComing) == mine) {
    if (!flags.compare_exchange_weak(seen, seen & ~kBucketComing)) continue;
    futex_wake(flags);
    return;
  }
}

bool Arrivals::wait(Key key, std::chrono::nanoseconds patience) const {
  const auto found = core_.buckets.find(key);
  if (!found) return false;
  auto& bucket = core_.control.bucket(*found);
  const auto mark = bucket.flags.load(std::memory_order_acquire) & kBucketComing;
  if (mark == 0) return false;
  const auto deadline = Clock::now() + patience;
  for (;;) {
    auto seen = bucket.flags.load(std::memory_order_acquire);
    if ((seen & kBucketComing) != mark || bucket.key.load(std::memory_order_relaxed) != key) return true;
    if (Clock::now() >= deadline || !living(mark)) {
      // Whoever comes next need not wait for it.
      (void)bucket.flags.compare_exchange_strong(seen, seen & ~kBucketComing);
      return true;
    }
    futex_wait(bucket.flags, seen, kWaitTick);
  }
}

}  // namespace forebay
