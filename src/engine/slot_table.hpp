// Which slots of the tiers are free, and taking and giving them back.
//
// Thread-safe, lock-free but for growth. A slot is free, in the hands of a lease (with the bucket it is meant
// for), or linked to the bucket whose `place` names it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "engine/control.hpp"
#include "engine/peers.hpp"
#include "engine/tiers.hpp"

namespace forebay {

[[nodiscard]] constexpr std::uint64_t slot_word(std::uint32_t owner, std::uint32_t bucket) {
  return std::uint64_t{owner} << 32 | (bucket + 1);
}
[[nodiscard]] constexpr std::uint32_t slot_owner(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}
[[nodiscard]] constexpr std::uint32_t slot_bucket(std::uint64_t word) {
  return static_cast<std::uint32_t>(word) - 1;
}

// Spreads the processes over `count` places.
[[nodiscard]] inline std::uint32_t place_to_start(LeaseId self, std::uint32_t count) {
  constexpr std::uint32_t kGoldenRatio = 0x9e37'79b9;
  return static_cast<std::uint32_t>(std::uint64_t{lease_slot(self) * kGoldenRatio} * count >> 32);
}

class SlotTable {
 public:
  SlotTable(const Control& control, const Peers& peers, Tiers& tiers)
      : control_(control), peers_(peers), tiers_(tiers) {
    for (auto& next : next_) next.store(place_to_start(peers.self(), control.header().slot_count));
  }

  // A slot of `tier`, now in this process's hands for `bucket`; none when the tier is full and cannot grow.
  [[nodiscard]] std::optional<std::uint32_t> take(std::uint32_t tier, std::uint32_t bucket);
  void hold(std::uint32_t slot, std::uint32_t bucket) { word(slot).store(slot_word(peers_.self(), bucket)); }
  void link(std::uint32_t slot, std::uint32_t bucket) { word(slot).store(slot_word(kLinked, bucket)); }
  void give_back(std::uint32_t slot);

  // After a death: the hints are never less than the truth again.
  void correct_hints();

  // How many more slots should have storage, so that as many as are in use are free (up to a limit): 0 is
  // enough, or all there can be.
  [[nodiscard]] std::uint32_t missing_ahead(std::uint32_t tier) const;
  // Reserves more storage for a tier. False when it is whole already or storage is short, now or a moment
  // ago.
  bool grow(std::uint32_t tier, Asker asker = Asker::kCaller);

  // A bucket could not be written to the tier, or read from it: it is left out for a while. What this process
  // alone may not do (EFBIG: its limit on the size of files) is no concern of the others.
  void note_failure(std::uint32_t tier, const Error& error);
  [[nodiscard]] bool left_out(std::uint32_t tier) const;

  [[nodiscard]] std::uint32_t available(std::uint32_t tier) const {
    return control_.shared().tiers[tier].available.load(std::memory_order_acquire);
  }
  // How many slots the tier has, or can have as far as is known.
  [[nodiscard]] std::uint32_t possible(std::uint32_t tier) const;
  // About how many slots could still be had without evicting anything.
  [[nodiscard]] std::uint32_t free_about(std::uint32_t tier) const;

  [[nodiscard]] SlotWord& word(std::uint32_t slot) const { return control_.slot(slot); }

 private:
  // The hint of how many slots are free is one word that every process would write to with each slot: what a
  // process takes is told a few at a time, what it gives back at once, so that the hint may be too high by a
  // few and hides no slot.
  void note_growth_failure(std::uint32_t tier, const Error& error);
  [[nodiscard]] bool may_grow(std::uint32_t tier) const;
  [[nodiscard]] bool refused_here(std::uint32_t tier, std::uint32_t patience) const;

  void lower_hint(std::uint32_t tier);
  void raise_hint(std::uint32_t tier);

  const Control& control_;
  const Peers& peers_;
  Tiers& tiers_;
  // Where this process looks first: each has a place of its own, so that they are not after the same slots.
  std::array<std::atomic<std::uint32_t>, kTierLimit> next_;
  std::array<std::atomic<std::uint32_t>, kTierLimit> withheld_{};  // taken and not told yet
  // When this process was last refused what others may be granted (tick, 0: never).
  std::array<std::atomic<std::uint32_t>, kTierLimit> refused_{};
};

}  // namespace forebay
