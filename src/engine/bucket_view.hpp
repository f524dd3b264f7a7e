// The byte states of one bucket, as a list or as a map, and its checksums.
//
// Reading without the lock gives something well formed but possibly mixed: validate by the version. Changes
// need the bucket's lock and an odd version (see Change).
#pragma once

#include <cstdint>

#include "engine/control.hpp"
#include "engine/layout.hpp"
#include "extent/byte_map.hpp"
#include "extent/byte_state.hpp"
#include "extent/run_list.hpp"

namespace forebay {

// The run list that `bucket.current` selects. Of a map: empty.
[[nodiscard]] RunList run_list(const Bucket& bucket, std::uint32_t size, std::uint32_t current);
// Is the list, or the map whose words add up to `map_sum`, what this code would have left?
[[nodiscard]] bool states_whole(const Bucket& bucket, std::uint32_t size, std::uint64_t map_sum);

class BucketView {
 public:
  BucketView(const Control& control, std::uint32_t index)
      : control_(control), bucket_(control.bucket(index)), index_(index), size_(control.bucket_size()) {}

  [[nodiscard]] Bucket& bucket() const { return bucket_; }
  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool fragmented() const { return (bucket_.current.load(std::memory_order_acquire) & 2) != 0; }

  // Calls visit(begin, end, state) for the runs of [from, to), in order.
  template <class Visit>
  void for_each(std::uint32_t from, std::uint32_t to, Visit&& visit) const {
    const auto current = bucket_.current.load(std::memory_order_acquire);
    if ((current & 2) != 0) {
      control_.map(index_).for_each(from, to, visit);
    } else {
      run_list(bucket_, size_, current).for_each(from, to, size_, visit);
    }
  }
  [[nodiscard]] bool all_readable(std::uint32_t from, std::uint32_t to) const {
    const auto current = bucket_.current.load(std::memory_order_acquire);
    // What most buckets are: one run. Mixed with a change, it is refuted by the version.
    if (is_one_run(current)) return readable(first_state(current));
    return all_runs_readable(from, to);
  }
  // Seen at a glance, without the lock: one run, of which nothing is unsaved. Mixed with a change it means
  // nothing.
  [[nodiscard]] bool plainly_saved() const {
    const auto current = bucket_.current.load(std::memory_order_acquire);
    return is_one_run(current) && !unsaved(first_state(current));
  }
  [[nodiscard]] bool any(std::uint32_t from, std::uint32_t to, bool (*what)(ByteState)) const;
  [[nodiscard]] bool any_unsaved() const;
  [[nodiscard]] bool all_unsaved() const;

  // Rewrites the states of [from, to) by map(old). A list that would take more than that room becomes a map,
  // if storage can be had for it. False if not, or if it would be for fills only: then nothing has changed.
  template <class Map>
  [[nodiscard]] bool rewrite(std::uint32_t from, std::uint32_t to, Map&& map,
                             Room room = Room::kWrite) const {
    const auto current = bucket_.current.load(std::memory_order_relaxed);
    if ((current & 2) == 0) {
      const auto list = run_list(bucket_, size_, current);
      RunList changed;
      if (list.rewrite(from, to, size_, changed, map) && (changed == list || store(changed, room)))
        return true;
      if (room == Room::kFill || !become_map(list)) return false;
    }
    const auto delta = control_.map(index_).rewrite(from, to, map);
    bucket_.map_sum.store(bucket_.map_sum.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
    return true;
  }
  void reset(ByteState state) const;  // all bytes at once; never fails
  void compact() const;               // back to a list, if the states fit in one

  // The checksums, of a bucket that has a slot.
  [[nodiscard]] PageWeights weights() const {
    return control_.weights(bucket_.place.load(std::memory_order_relaxed) - 1,
                            bucket_.key.load(std::memory_order_relaxed));
  }
  // Nothing counts; of a bucket whose bytes are all Invalid.
  void reset_weights() const { weights().reset(size_ / PageWeights::kPage); }
  // Have the pages that [from, to) touches the checksums of what counts in `data`, the bucket's bytes? Needs
  // the lock and an even version.
  [[nodiscard]] bool bytes_intact(const std::byte* data, std::uint32_t from, std::uint32_t to) const;
  // Are list or map and key what this code would have left? Needs the lock and an even version.
  [[nodiscard]] bool states_intact() const;
  // After taking over from a dead owner in the middle of a change: makes the checksums those of what is
  // there. `data` is null when the bytes are not mapped.
  void trust(const std::byte* data) const;

 private:
  [[nodiscard]] static bool is_one_run(std::uint32_t current) { return (current & 0x3e) == (1u << 2); }
  [[nodiscard]] ByteState first_state(std::uint32_t current) const {
    auto& word = bucket_.lists[current & 1].entries[0];
    return static_cast<ByteState>(std::atomic_ref(word).load(std::memory_order_relaxed) & 3);
  }
  // Calls visit(page, weight of what counts of it in `data`) for the pages that [from, to) touches.
  template <class Visit>
  void for_each_page_weight(const std::byte* data, std::uint32_t from, std::uint32_t to, Visit&& visit) const;
  [[nodiscard]] bool all_runs_readable(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool store(const RunList& list, Room room) const;
  [[nodiscard]] bool become_map(const RunList& list) const;

  const Control& control_;
  Bucket& bucket_;
  std::uint32_t index_;
  std::uint32_t size_;
};

// Whatever makes bytes Invalid counts itself first, in the same change: fills under way are void then (F1).
inline void note_forgetting(Bucket& bucket) { bucket.flags.fetch_add(1u << kBucketForgetsShift); }

// A change of a bucket: makes the version odd, and even again at the end. Needs the lock.
class Change {
 public:
  explicit Change(Bucket& bucket)
      : bucket_(bucket), before_(bucket.version.load(std::memory_order_relaxed) & ~1u) {
    bucket_.version.store(before_ + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change() { bucket_.version.store(before_ + 2, std::memory_order_release); }

 private:
  Bucket& bucket_;
  std::uint32_t before_;
};

}  // namespace forebay
