#include "engine/peers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "engine/crash_point.hpp"
#include "os/futex.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLockTick = std::chrono::milliseconds(20);
constexpr int kSpins = 200;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

std::array<char, 16> command_name() {
  std::array<char, 16> name{};
  const Fd fd(::open("/proc/self/comm", O_RDONLY | O_CLOEXEC));
  if (!fd) return name;
  const ssize_t n = ::read(fd.get(), name.data(), name.size() - 1);
  if (n > 0 && name[static_cast<std::size_t>(n) - 1] == '\n') name[static_cast<std::size_t>(n) - 1] = 0;
  return name;
}

Result<Mapping> wiped_on_fork(LeaseId id) {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  FOREBAY_ASSIGN(auto page, Mapping::anonymous(size));
  if (::madvise(page.data(), size, MADV_WIPEONFORK) != 0)
    return fail_errno(errno, "set up", "the lease's page");
  std::memcpy(page.data(), &id, sizeof id);
  return page;
}

LeaseId lease_id(const LeaseRecord& record, std::uint32_t slot) {
  return record.generation.load() << 11 | slot << 1;
}

// L2: nobody can mistake the slot's next holder for an earlier one, wrapped or not: 0 is never a generation.
// For the holder of the slot only.
void next_generation(LeaseRecord& record) {
  const auto generation = (record.generation.load() + 1) & 0x1f'ffff;
  record.generation.store(generation == 0 ? 1 : generation, std::memory_order_release);
}

template <class T>
bool taken_by_another(const Result<T>& lease) {
  return !lease && lease.error().code == EAGAIN;
}

// Clears a process's figures; visit(i, figure) for each.
template <class Visit>
void take_figures(LeaseRecord& record, Visit&& visit) {
  for (auto* counters : {&record.counters, &record.own_counters}) {
    auto* figures = reinterpret_cast<Wide*>(counters);
    for (std::size_t i = 0; i < kCounterCount; ++i)
      visit(i, figures[i].exchange(0, std::memory_order_relaxed));
  }
}

// Adds a leaving process's figures to the total, so that they count once.
void fold(Counters& into, LeaseRecord& record) {
  auto* to = reinterpret_cast<Wide*>(&into);
  take_figures(record, [to](std::size_t i, std::uint64_t figure) {
    to[i].fetch_add(figure, std::memory_order_relaxed);
  });
}

}  // namespace

Peers::Peers(const Control& control, LeaseFile file, Mapping lease, Mapping own_page, LeaseId predecessor)
    : control_(&control),
      file_(std::move(file)),
      lease_(std::move(lease)),
      own_page_(std::move(own_page)),
      own_(reinterpret_cast<const LeaseId*>(own_page_.data())),
      predecessor_(predecessor) {}

Result<Peers> Peers::join(const Control& control, LeaseFile file, Fd& ring_lease) {
  const auto count = control.header().lease_count;
  const auto first = control.shared().next_lease.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto slot = (first + i) % count;
    auto ring = file.take_for_ring(slot);
    if (taken_by_another(ring)) continue;
    if (!ring) return std::unexpected(ring.error());
    auto lease = file.take(slot);
    if (taken_by_another(lease)) continue;
    if (!lease) return std::unexpected(lease.error());
    auto& record = control.lease(slot);
    const auto predecessor = record.attached.load() != 0 ? lease_id(record, slot) : 0;
    if (predecessor != 0) fold(control.shared().gone, record);
    // What a thread counted while its process left is in the total already.
    take_figures(record, [](std::size_t, std::uint64_t) {});
    FOREBAY_TRY(control.reserve_opens(slot));
    next_generation(record);
    const auto id = lease_id(record, slot);
    FOREBAY_ASSIGN(auto own_page, wiped_on_fork(id));
    record.opens.store(0);
    record.pid.store(::getpid());
    record.command = command_name();
    record.since_ns.store(control.nanoseconds());
    FOREBAY_CRASH_POINT("join.before_attached");
    record.attached.store(1, std::memory_order_release);
    ring_lease = std::move(*ring);
    return Peers(control, std::move(file), std::move(*lease), std::move(own_page), predecessor);
  }
  return fail(EUSERS,
              "all " + std::to_string(count) + " places of the buffer are taken: raise buffer.max_processes");
}

Peers::~Peers() {
  if (own_page_.data() == nullptr || self() == 0) return;
  auto& mine = record();
  fold(control_->shared().gone, mine);
  mine.opens.store(0);
  mine.attached.store(0, std::memory_order_release);
}

LeaseRecord& Peers::record() const { return control_->lease(lease_slot(self())); }

bool Peers::alive(LeaseId id) const {
  id &= ~kWaiters;
  if (id == self()) return true;
  const auto slot = lease_slot(id);
  if (slot >= control_->header().lease_count) return false;
  if (control_->lease(slot).generation.load(std::memory_order_acquire) != lease_generation(id)) return false;
  return file_.held(slot);
}

bool Peers::ring_alive(LeaseId id) const {
  const auto slot = lease_slot(id);
  // A slot is given to another only after the ring of the one before is gone.
  if (slot >= control_->header().lease_count ||
      control_->lease(slot).generation.load() != lease_generation(id))
    return false;
  return file_.ring_held(slot);
}

std::vector<LeaseId> Peers::dead() const {
  std::vector<LeaseId> found;
  if (predecessor_ != 0) found.push_back(predecessor_);
  for (std::uint32_t slot = 0; slot < control_->header().lease_count; ++slot) {
    const auto& record = control_->lease(slot);
    if (record.attached.load() == 0) continue;
    if (const auto id = lease_id(record, slot); !alive(id)) found.push_back(id);
  }
  return found;
}

void Peers::bury(const std::vector<LeaseId>& dead) {
  for (const auto id : dead) {
    if (id == predecessor_) predecessor_ = 0;
    const auto slot = lease_slot(id);
    // Held while it is buried: a newcomer who took the slot meanwhile must not be buried in its place.
    const auto ring = file_.take_for_ring(slot);
    const auto lease = ring ? file_.take(slot) : std::unexpected(ring.error());
    auto& record = control_->lease(slot);
    if (!lease || lease_id(record, slot) != id || record.attached.load() == 0) continue;
    next_generation(record);
    fold(control_->shared().gone, record);
    record.opens.store(0);
    FOREBAY_CRASH_POINT("bury.before_gone");
    record.attached.store(0, std::memory_order_release);
  }
}

Locked Peers::try_lock(Word& word) const {
  std::uint32_t seen = 0;
  if (word.compare_exchange_strong(seen, self(), std::memory_order_acquire)) return Locked::kClean;
  if (alive(seen)) return Locked::kTimedOut;
  // Waiters, if any, stay noted.
  if (word.compare_exchange_strong(seen, self() | (seen & kWaiters), std::memory_order_acquire)) {
    return Locked::kTakenOver;
  }
  return Locked::kTimedOut;
}

Locked Peers::lock_slowly(Word& word) const {
  for (int i = 0; i < kSpins; ++i) {
    std::uint32_t free = 0;
    if (word.load(std::memory_order_relaxed) == 0 &&
        word.compare_exchange_weak(free, self(), std::memory_order_acquire)) {
      return Locked::kClean;
    }
    pause_briefly();
  }
  const auto deadline = Clock::now() + lock_wait_;
  for (;;) {
    auto seen = word.load(std::memory_order_relaxed);
    if (seen == 0) {
      // Others may be asleep behind us: keep them noted.
      if (word.compare_exchange_strong(seen, self() | kWaiters, std::memory_order_acquire))
        return Locked::kClean;
      continue;
    }
    if ((seen & kWaiters) == 0) {
      if (!word.compare_exchange_strong(seen, seen | kWaiters, std::memory_order_relaxed)) continue;
      seen |= kWaiters;
    }
    futex_wait(word, seen, kLockTick);
    if (word.load(std::memory_order_relaxed) != seen) continue;
    if (!alive(seen)) {
      if (word.compare_exchange_strong(seen, self() | kWaiters, std::memory_order_acquire)) {
        record().counters.take_overs.fetch_add(1, std::memory_order_relaxed);
        return Locked::kTakenOver;
      }
    } else if (Clock::now() >= deadline) {
      return Locked::kTimedOut;
    }
  }
}

void Peers::unlock(Word& word) const {
  if ((word.exchange(0, std::memory_order_release) & kWaiters) != 0) futex_wake(word, 1);
}

}  // namespace forebay
