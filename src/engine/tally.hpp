// The figures that every access raises, without a locked instruction for the thread that comes first.
//
// A locked addition waits until all earlier loads and stores are through, which costs a hit more than its
// copy. The first thread of a process that counts here gets a set of counters of its own, which it raises by
// plain loads and stores; all others share the process's other set. Thread-safe. Not for a forked child.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/layout.hpp"

namespace forebay {

inline void count(Wide& counter, std::uint64_t by = 1) { counter.fetch_add(by, std::memory_order_relaxed); }

// What a process has counted so far.
[[nodiscard]] inline std::uint64_t counted(const LeaseRecord& record, Wide Counters::* which) {
  return (record.counters.*which).load(std::memory_order_relaxed) +
         (record.own_counters.*which).load(std::memory_order_relaxed);
}

class Tally {
 public:
  explicit Tally(LeaseRecord& record) : own_(record.own_counters), shared_(record.counters) {}

  void add(Wide Counters::* which, std::uint64_t by = 1) {
    if (owner_.load(std::memory_order_relaxed) != __builtin_thread_pointer() && !take()) {
      return count(shared_.*which, by);
    }
    auto& counter = own_.*which;
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

 private:
  // A thread that has ended stays the owner, until one with its address, which cannot meet it, comes.
  bool take() {
    void* nobody = nullptr;
    return owner_.load(std::memory_order_relaxed) == nullptr &&
           owner_.compare_exchange_strong(nobody, __builtin_thread_pointer(), std::memory_order_relaxed);
  }

  Counters& own_;
  Counters& shared_;
  std::atomic<void*> owner_ = nullptr;
};

}  // namespace forebay
