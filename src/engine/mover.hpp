// Moving buckets between tiers, and keeping room in the upper ones.
//
// Bytes are changed only in mapped tiers; a bucket in another tier is brought up first. One thread a process,
// which sleeps while there is room enough; it also reserves storage ahead of use and looks for the dead.
// Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/core.hpp"
#include "tier/block_queue.hpp"

namespace forebay {

class Mover {
 public:
  // `ring_lease` stands for this process's io_uring (see LeaseFile); `on_death` is called when a process was
  // found dead, `on_look` every now and then.
  Mover(Core& core, Fd ring_lease, std::function<void()> on_death, std::function<void()> on_look);
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;
  ~Mover() { stop(); }

  // False: the system has no thread for it. May be called again.
  bool start();
  // False: the thread is still in a call by `until`, and goes on by itself: what it uses must be kept for it.
  bool stop(std::optional<std::chrono::steady_clock::time_point> until = std::nullopt);

  // A slot of `tier` was taken: is there still enough room?
  void note_use(std::uint32_t tier) {
    taken_[tier].fetch_add(1, std::memory_order_relaxed);
    if (core_.slots.free_about(tier) < low_water(tier) || core_.slots.missing_ahead(tier) != 0) press();
  }
  void press();

  // Brings the bucket of `key` into a mapped tier. ENOBUFS: no room. Nothing to do is success.
  Status promote(Key key);
  // Sends one bucket of `tier` down, or forgets it if it is clean and there is no room below. False: nothing
  // to move.
  bool demote_one(std::uint32_t tier);

 private:
  [[nodiscard]] bool stopping();
  struct Candidate {
    std::uint32_t bucket;
    Key key;
    std::uint32_t version;
  };
  struct Moving {
    Candidate candidate;
    std::uint32_t slot;  // where its bytes are going
  };
  void run();
  void keep_room(std::uint32_t tier);
  void open_queue();
  // False when the tier below takes no more.
  bool demote_through_queue(std::uint32_t tier);
  void reap(std::chrono::milliseconds wait);
  // A bucket of a tier and the tier below that it may go to, where room was found.
  struct Descent {
    Candidate candidate;
    std::uint32_t below;
  };
  [[nodiscard]] std::optional<Descent> next_descent(std::uint32_t tier) const;
  [[nodiscard]] std::optional<Candidate> coldest(std::uint32_t tier, std::uint32_t below) const;
  // Publishes that the bucket's bytes now lie in `slot` (in hand), if it is unchanged since. Gives back what
  // is left over.
  bool settle(const Candidate& candidate, std::uint32_t slot);
  [[nodiscard]] std::uint32_t low_water(std::uint32_t tier) const {
    return static_cast<std::uint32_t>(std::uint64_t{core_.tiers[tier].slots} *
                                      core_.settings.pressure.low_water / 100);
  }
  [[nodiscard]] std::uint32_t high_water(std::uint32_t tier) const {
    return static_cast<std::uint32_t>(std::uint64_t{core_.tiers[tier].slots} *
                                      core_.settings.pressure.high_water / 100);
  }

  Core& core_;
  std::function<void()> on_death_, on_look_;
  Fd ring_lease_;  // until the queue is open
  std::optional<BlockQueue>
      queue_;  // of the first tier that is not mapped; of the thread only, as all down to moving_
  std::uint32_t queue_tier_ = 0;
  std::vector<Moving> moving_;
  std::array<std::atomic<std::uint64_t>, kTierLimit> taken_{};  // slots, by this process
  std::atomic<bool> pressed_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  bool ended_ = false;     // guarded by mutex_: the thread
  std::thread thread_;
};

}  // namespace forebay
