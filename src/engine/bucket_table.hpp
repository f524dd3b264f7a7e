// The index from (file, block) to a bucket, and the life of buckets: find, insert, lock, evict, sweep.
//
// Thread-safe. `find` takes no lock; what it finds counts only after the key was seen again under the
// bucket's lock or version (X3).
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "engine/bucket_view.hpp"
#include "engine/control.hpp"
#include "engine/peers.hpp"
#include "engine/slot_table.hpp"
#include "engine/tiers.hpp"

namespace forebay {

// file:20 | generation:8 | block:36. Never 0: generations start at 1.
using Key = std::uint64_t;
inline constexpr std::uint64_t kMaxBlock = (std::uint64_t{1} << 36) - 1;
[[nodiscard]] constexpr Key make_key(std::uint32_t file, std::uint32_t generation, std::uint64_t block) {
  return std::uint64_t{file} << 44 | std::uint64_t{generation & 255} << 36 | block;
}
[[nodiscard]] constexpr std::uint32_t key_file(Key key) { return static_cast<std::uint32_t>(key >> 44); }
[[nodiscard]] constexpr std::uint64_t key_block(Key key) { return key & kMaxBlock; }
[[nodiscard]] constexpr Key key_of_block(Key any_of_file, std::uint64_t block) {
  return (any_of_file & ~kMaxBlock) | block;
}

// Holds a bucket's lock.
class BucketLock {
 public:
  BucketLock() = default;
  BucketLock(const Peers& peers, Bucket& bucket) : peers_(&peers), bucket_(&bucket) {}
  BucketLock(BucketLock&& other) noexcept
      : peers_(other.peers_), bucket_(std::exchange(other.bucket_, nullptr)) {}
  BucketLock& operator=(BucketLock&& other) noexcept {
    unlock();
    peers_ = other.peers_;
    bucket_ = std::exchange(other.bucket_, nullptr);
    return *this;
  }
  ~BucketLock() { unlock(); }
  void unlock() {
    if (bucket_ != nullptr) peers_->unlock(bucket_->lock);
    bucket_ = nullptr;
  }
  explicit operator bool() const { return bucket_ != nullptr; }

 private:
  const Peers* peers_ = nullptr;
  Bucket* bucket_ = nullptr;
};

class BucketTable {
 public:
  BucketTable(const Control& control, const Peers& peers, Tiers& tiers, SlotTable& slots)
      : control_(control),
        peers_(peers),
        tiers_(tiers),
        slots_(slots),
        next_(place_to_start(peers.self(), control.buckets_ready())) {}

  [[nodiscard]] std::optional<std::uint32_t> find(Key key) const;
  // Where `key` was not found: does its chain hold what cannot be there, so that a bucket of that key may
  // have been lost to damage? Then the strays are marked as damaged.
  [[nodiscard]] bool lost(Key key) const;

  // Links a bucket for `key` whose bytes are all Invalid, in a slot of `tier` (or without a slot, and busy:
  // claimed by this process, if `tier` is kNoTier). Returns the bucket of that key, which may have been there
  // already. ENOBUFS: no free slot or descriptor. ETIMEDOUT: a lock could not be had.
  static constexpr std::uint32_t kNoTier = ~0u;
  struct Inserted {
    std::uint32_t bucket;
    bool fresh;
  };
  Result<Inserted> insert(Key key, std::uint32_t tier);

  // The bucket's lock, if it still has `key`. An empty lock: it has another key by now. What a dead owner or
  // a dead claimer left is put right.
  Result<BucketLock> lock(std::uint32_t bucket, Key key) const;
  // The same without waiting; empty also when somebody else has the lock.
  BucketLock try_lock(std::uint32_t bucket, Key key) const;

  // Gives the bucket up. The caller holds its lock and has made sure that nothing unsaved is in it (or wants
  // it gone). False when the index could not be locked, or does not lead to it, which is damage: then nothing
  // has changed.
  bool remove(std::uint32_t bucket, Key key);
  // Removes it if it is clean, unclaimed and not pinned. Needs no lock held; does not wait.
  bool evict(std::uint32_t bucket, Key key);

  // Puts right every descriptor and slot that is in the hands of the dead.
  void sweep();

  [[nodiscard]] std::byte* data(const Bucket& bucket) const {
    const auto place = bucket.place.load(std::memory_order_acquire);
    return place == 0 || place > control_.header().slot_count ? nullptr : tiers_.data(place - 1);
  }
  [[nodiscard]] BucketView view(std::uint32_t bucket) const { return {control_, bucket}; }

  // Tells those who wait for room that there may be some.
  void announce_room() const;

  // Which chain a key belongs to: for tests that want collisions.
  [[nodiscard]] std::uint32_t chain_number(Key key) const;

 private:
  [[nodiscard]] Chain& chain_of(Key key) const;
  [[nodiscard]] std::optional<std::uint32_t> take_descriptor();
  [[nodiscard]] bool reachable(const Chain& chain, std::uint32_t bucket) const;
  void unlink(Chain& chain, std::uint32_t bucket) const;
  // Calls visit(bucket) for the chain's buckets. False: it does not end as a chain does. Needs its lock.
  template <class Visit>
  [[nodiscard]] bool walk(const Chain& chain, Visit&& visit) const;
  [[nodiscard]] bool key_damaged(std::uint32_t bucket) const;
  void mark_damaged(std::uint32_t bucket) const;
  void sweep_index(std::uint32_t bucket);
  // Puts right what a dead owner or claimer left of a bucket whose lock the caller holds. False when that
  // needs the index and it cannot be had.
  bool put_right(std::uint32_t bucket, bool taken_over) const;
  void trust_what_is_there(const Bucket& bucket, const BucketView& states) const;
  bool free_from_dead_hands(std::uint32_t bucket) const;
  void release_descriptor(std::uint32_t bucket) const;
  bool sweep_descriptor(std::uint32_t bucket);
  bool sweep_slot(std::uint32_t slot);

  const Control& control_;
  const Peers& peers_;
  Tiers& tiers_;
  SlotTable& slots_;
  mutable std::atomic<std::uint32_t> next_;  // where this process looks for a descriptor first
};

}  // namespace forebay
