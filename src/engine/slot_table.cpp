#include "engine/slot_table.hpp"

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "engine/crash_point.hpp"
#include "engine/ticks.hpp"

namespace forebay {
namespace {

// Fresh storage is cleared by the system, which takes ten times as long as filling it: little at first, then
// as much as there is.
constexpr std::uint64_t kLeastStep = 4u << 20;
constexpr std::uint64_t kGrowStep = 32u << 20;
constexpr std::uint64_t kAhead = 128u << 20;
// The hint may say up to so many more than are free for each process, and no more than a share of the tier.
constexpr std::uint32_t kMostWithheld = 7;
constexpr std::uint32_t kSlotsPerWithheld = 256;

// A tier that could not grow, or be written, is tried again after so many ticks: room may have been made.
constexpr std::uint32_t kGrowAgain = 1'000;
constexpr std::uint32_t kWriteAgain = 10'000;

std::uint32_t slots_in(std::uint64_t bytes, const Header& header) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / header.bucket_size, 1));
}

}  // namespace

std::optional<std::uint32_t> SlotTable::take(std::uint32_t tier, std::uint32_t bucket) {
  auto& shared = control_.shared().tiers[tier];
  const auto first = tiers_[tier].first_slot;
  const auto wanted = slot_word(peers_.self(), bucket);
  do {
    const auto count = available(tier);
    auto before = shared.free_hint.load(std::memory_order_relaxed);
    if (count > 0 && before != 0) {
      auto at = next_[tier].load(std::memory_order_relaxed) % count;
      for (std::uint32_t i = 0; i < count; ++i, at = at + 1 == count ? 0 : at + 1) {
        std::uint64_t free = 0;
        auto& candidate = word(first + at);
        if (candidate.load(std::memory_order_relaxed) != 0 ||
            !candidate.compare_exchange_strong(free, wanted, std::memory_order_acquire)) {
          continue;
        }
        next_[tier].store(at + 1, std::memory_order_relaxed);
        lower_hint(tier);
        FOREBAY_CRASH_POINT("slot.taken");
        return first + at;
      }
      // Not if one was given back meanwhile: a hint that is too low hides a slot for good.
      shared.free_hint.compare_exchange_strong(before, 0, std::memory_order_relaxed);
    }
  } while (grow(tier));
  return std::nullopt;
}

void SlotTable::give_back(std::uint32_t slot) {
  const auto& tier = tiers_.of_slot(slot);
  word(slot).store(0, std::memory_order_release);
  // Lowest first, so that memory that was used before is used again; but never a long way to the only one.
  auto& next = next_[tier.index];
  const auto at = next.load(std::memory_order_relaxed) % std::max(available(tier.index), 1u);
  if (slot - tier.first_slot < at || word(tier.first_slot + at).load(std::memory_order_relaxed) != 0) {
    next.store(slot - tier.first_slot, std::memory_order_relaxed);
  }
  raise_hint(tier.index);
}

void SlotTable::lower_hint(std::uint32_t tier) {
  const auto withheld = withheld_[tier].fetch_add(1, std::memory_order_relaxed) + 1;
  if (withheld <= std::min(kMostWithheld, available(tier) / kSlotsPerWithheld)) return;
  const auto down = withheld_[tier].exchange(0, std::memory_order_relaxed);
  // A hint only: never below zero, whatever a killed process left of it.
  auto& hint = control_.shared().tiers[tier].free_hint;
  auto seen = hint.load(std::memory_order_relaxed);
  while (seen > 0 &&
         !hint.compare_exchange_weak(seen, seen - std::min(seen, down), std::memory_order_relaxed)) {
  }
}

void SlotTable::raise_hint(std::uint32_t tier) {
  auto withheld = withheld_[tier].load(std::memory_order_relaxed);
  while (withheld > 0) {
    if (withheld_[tier].compare_exchange_weak(withheld, withheld - 1, std::memory_order_relaxed)) return;
  }
  control_.shared().tiers[tier].free_hint.fetch_add(1, std::memory_order_relaxed);
}

void SlotTable::correct_hints() {
  for (std::uint32_t tier = 0; tier < tiers_.count(); ++tier) {
    auto& hint = control_.shared().tiers[tier].free_hint;
    const auto before = hint.load(std::memory_order_relaxed);
    std::uint32_t free = 0;
    for (std::uint32_t i = 0; i < available(tier); ++i)
      free += word(tiers_[tier].first_slot + i).load() == 0 ? 1 : 0;
    if (free > before) hint.fetch_add(free - before, std::memory_order_relaxed);
  }
}

std::uint32_t SlotTable::missing_ahead(std::uint32_t tier) const {
  const auto& shared = control_.shared().tiers[tier];
  const auto slots = tiers_[tier].slots;
  const auto reserved = available(tier);
  if (reserved >= slots || !may_grow(tier)) return 0;
  const auto free = std::min(shared.free_hint.load(std::memory_order_relaxed), reserved);
  const auto& header = control_.header();
  const auto wanted = std::clamp(reserved - free, slots_in(kLeastStep, header), slots_in(kAhead, header));
  return std::min(wanted, slots / 4) - std::min({wanted, slots / 4, free});
}

bool SlotTable::grow(std::uint32_t tier, Asker asker) {
  auto& shared = control_.shared().tiers[tier];
  auto& mine = tiers_[tier];
  const auto before = shared.available.load(std::memory_order_acquire);
  if (before >= mine.slots || !may_grow(tier)) return false;
  if (peers_.lock(shared.grow_lock) == Locked::kTimedOut) return false;
  const auto from = shared.available.load(std::memory_order_acquire);
  bool grown = from > before;
  if (!grown && from < mine.slots) {
    const auto& header = control_.header();
    const auto step = std::clamp(from, slots_in(kLeastStep, header), slots_in(kGrowStep, header));
    const auto to = static_cast<std::uint32_t>(std::min<std::uint64_t>(mine.slots, from + step));
    auto status = control_.reserve_weights(mine.first_slot + from, to - from);
    if (status) status = mine.mapped ? mine.mapped->grow(from, to, asker) : mine.block->grow(from, to);
    FOREBAY_CRASH_POINT("slot.grown");
    if (status) {
      shared.available.store(to, std::memory_order_release);
      shared.free_hint.fetch_add(to - from, std::memory_order_relaxed);
      next_[tier].store(from, std::memory_order_relaxed);
      grown = true;
      if (shared.failed.exchange(0, std::memory_order_relaxed) != 0)
        log_info("tier {} has room again: {} of {} buckets", mine.name, to, mine.slots);
    } else if (status.error().code != EAGAIN) {
      note_growth_failure(tier, status.error());
    }
  }
  peers_.unlock(shared.grow_lock);
  return grown;
}

void SlotTable::note_growth_failure(std::uint32_t tier, const Error& error) {
  if (error.code == EFBIG) return refused_[tier].store(control_.tick(), std::memory_order_relaxed);
  auto& shared = control_.shared().tiers[tier];
  shared.failed_at.store(control_.tick(), std::memory_order_relaxed);
  const auto code = static_cast<std::uint32_t>(error.code);
  if (shared.failed.exchange(code, std::memory_order_relaxed) == code) return;
  const auto& mine = tiers_[tier];
  log_warn("tier {} stays at {} of {} buckets for now: {}", mine.name, available(tier), mine.slots,
           error.message);
}

void SlotTable::note_failure(std::uint32_t tier, const Error& error) {
  if (error.code == EFBIG) return refused_[tier].store(control_.tick(), std::memory_order_relaxed);
  auto& shared = control_.shared().tiers[tier];
  shared.failed_at.store(control_.tick(), std::memory_order_relaxed);
  const auto code = static_cast<std::uint32_t>(error.code) | kTierLeftOut;
  if ((shared.failed.exchange(code) & kTierLeftOut) == 0)
    log_warn("tier {} is left out for now: {}", tiers_[tier].name, error.message);
}

bool SlotTable::refused_here(std::uint32_t tier, std::uint32_t patience) const {
  const auto refused = refused_[tier].load(std::memory_order_relaxed);
  return refused != 0 && ticks_since(refused, control_.tick()) < patience;
}

bool SlotTable::may_grow(std::uint32_t tier) const {
  if (refused_here(tier, kGrowAgain)) return false;
  const auto& shared = control_.shared().tiers[tier];
  const auto failed = shared.failed.load(std::memory_order_relaxed);
  if (failed == 0) return true;
  const auto patience = (failed & kTierLeftOut) != 0 ? kWriteAgain : kGrowAgain;
  return ticks_since(shared.failed_at.load(std::memory_order_relaxed), control_.tick()) >= patience;
}

bool SlotTable::left_out(std::uint32_t tier) const {
  if (refused_here(tier, kWriteAgain)) return true;
  const auto& shared = control_.shared().tiers[tier];
  return (shared.failed.load(std::memory_order_relaxed) & kTierLeftOut) != 0 &&
         ticks_since(shared.failed_at.load(std::memory_order_relaxed), control_.tick()) < kWriteAgain;
}

std::uint32_t SlotTable::possible(std::uint32_t tier) const {
  return may_grow(tier) ? control_.header().tiers[tier].slots : available(tier);
}

std::uint32_t SlotTable::free_about(std::uint32_t tier) const {
  return control_.shared().tiers[tier].free_hint.load(std::memory_order_relaxed) + possible(tier) -
         available(tier);
}

}  // namespace forebay
