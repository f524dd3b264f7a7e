// Who is attached, and locks that survive their owner.
//
// Thread-safe. The own id lies in a page that a forked child finds empty: a child is not attached.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/control.hpp"
#include "os/lease.hpp"

namespace forebay {

// generation:21 | slot:10 | waiters:1. The waiters bit belongs to lock words only.
using LeaseId = std::uint32_t;
inline constexpr std::uint32_t kWaiters = 1;
[[nodiscard]] constexpr std::uint32_t lease_slot(LeaseId id) { return id >> 1 & 1023; }
[[nodiscard]] constexpr std::uint32_t lease_generation(LeaseId id) { return id >> 11; }

enum class Locked {
  kClean,
  kTakenOver,  // the owner died: put right what the lock guards before using it
  kTimedOut,
};

class Peers {
 public:
  // Takes a free slot of the lease file. `ring_lease` receives a descriptor that stands for this process's
  // io_uring, to be registered with it and then closed.
  static Result<Peers> join(const Control& control, LeaseFile lease_file, Fd& ring_lease);
  Peers(Peers&&) noexcept = default;
  Peers& operator=(Peers&&) noexcept = default;
  ~Peers();

  // This process's id; 0 in a forked child.
  [[nodiscard]] LeaseId self() const { return own_ == nullptr ? 0 : *own_; }
  [[nodiscard]] LeaseRecord& record() const;

  // A dead id stays dead. About 3 us: not for hot paths.
  [[nodiscard]] bool alive(LeaseId id) const;

  // May transfers of a dead process still be under way?
  [[nodiscard]] bool ring_alive(LeaseId id) const;

  // Those who left without saying goodbye, so that a sweep is due.
  [[nodiscard]] std::vector<LeaseId> dead() const;
  // Marks the dead as gone, adding up their counters, after what they left was put right. Those whose
  // transfers are still under way stay: their slots were not put right.
  void bury(const std::vector<LeaseId>& dead);

  // The one process that carries home what others left without waiting. EAGAIN: there is one already.
  [[nodiscard]] Result<Mapping> become_heir() const { return file_.take_heir(); }
  [[nodiscard]] bool has_heir() const { return file_.heir_held(); }

  [[nodiscard]] Locked lock(Word& word) const {
    std::uint32_t free = 0;
    if (word.compare_exchange_strong(free, self(), std::memory_order_acquire)) return Locked::kClean;
    return lock_slowly(word);
  }
  // For locks that must not be waited for: kTimedOut at once if a living process has it.
  [[nodiscard]] Locked try_lock(Word& word) const;
  void unlock(Word& word) const;

  void set_lock_wait(std::chrono::nanoseconds wait) { lock_wait_ = wait; }

 private:
  Peers(const Control& control, LeaseFile file, Mapping lease, Mapping own_page, LeaseId predecessor);
  [[nodiscard]] Locked lock_slowly(Word& word) const;

  const Control* control_;
  LeaseFile file_;
  Mapping lease_;
  Mapping own_page_;
  const LeaseId* own_ = nullptr;
  LeaseId predecessor_ = 0;  // the slot's last holder, if it left without saying goodbye
  std::chrono::nanoseconds lock_wait_ = std::chrono::seconds(10);
};

}  // namespace forebay
