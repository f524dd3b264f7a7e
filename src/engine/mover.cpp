#include "engine/mover.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/log.hpp"
#include "engine/crash_point.hpp"
#include "engine/evictor.hpp"
#include "engine/reservations.hpp"
#include "engine/ticks.hpp"
#include "os/quiet_thread.hpp"

namespace forebay {
namespace {

constexpr unsigned kDepth = 16;
constexpr std::uint32_t kCandidates = 64;
// How often a tier is moved through the queue before the mover looks around.
constexpr std::uint32_t kRounds = 8;
constexpr auto kDeathWatch = std::chrono::seconds(2);
// Entering a tier into the page tables costs 0.3 s a GiB: as far as this process has shown that it will use
// it.
constexpr std::uint64_t kEnteredAtFirst = 16u << 20;
constexpr std::uint64_t kEnteredForOne = 4;

}  // namespace

Mover::Mover(Core& core, Fd ring_lease, std::function<void()> on_death, std::function<void()> on_look)
    : core_(core),
      on_death_(std::move(on_death)),
      on_look_(std::move(on_look)),
      ring_lease_(std::move(ring_lease)) {}

bool Mover::start() {
  if (!thread_.joinable()) thread_ = quiet_thread([this] { run(); });
  return thread_.joinable();
}

bool Mover::stop(std::optional<std::chrono::steady_clock::time_point> until) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
  if (!thread_.joinable()) return true;
  const bool ended = !until || wake_.wait_until(lock, *until, [&] { return ended_; });
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
  return ended;
}

bool Mover::stopping() {
  const std::scoped_lock lock(mutex_);
  return stopping_;
}

void Mover::press() {
  if (pressed_.exchange(true, std::memory_order_relaxed)) return;
  const std::scoped_lock lock(mutex_);
  wake_.notify_all();
}

void Mover::run() {
  open_queue();
  std::vector<std::uint64_t> populated(core_.tiers.count());
  std::chrono::steady_clock::time_point next_look{};
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kDeathWatch, [&] { return stopping_ || pressed_.load(); });
      if (stopping_) break;
      pressed_.store(false);
    }
    for (std::uint32_t tier = 0; tier < core_.tiers.count(); ++tier) {
      auto& mine = core_.tiers[tier];
      const auto taken = taken_[tier].load(std::memory_order_relaxed);
      if (mine.mapped && taken != 0) {
        while (core_.slots.missing_ahead(tier) != 0 && !stopping() &&
               core_.slots.grow(tier, Asker::kBackground)) {
        }
        const auto wanted = taken * kEnteredForOne + kEnteredAtFirst / core_.bucket_size();
        const auto enough = std::min<std::uint64_t>(core_.slots.available(tier), wanted);
        if (enough > populated[tier]) mine.mapped->populate(std::exchange(populated[tier], enough), enough);
      }
      keep_room(tier);
    }
    if (!core_.peers.dead().empty()) on_death_();
    if (const auto now = std::chrono::steady_clock::now(); now >= next_look) {
      on_look_();
      next_look = now + kDeathWatch;
    }
  }
  queue_.reset();
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  wake_.notify_all();
}

void Mover::open_queue() {
  for (std::uint32_t tier = 0; tier < core_.tiers.count(); ++tier) {
    if (!core_.tiers[tier].block) continue;
    auto queue = BlockQueue::open(*core_.tiers[tier].block, kDepth, ring_lease_.get());
    if (queue) {
      queue_.emplace(std::move(*queue));
      queue_tier_ = tier;
    } else {
      log_warn("tier {} is written one bucket at a time: {}", core_.tiers[tier].name, queue.error().message);
    }
    break;
  }
  ring_lease_.reset();
}

std::optional<Mover::Descent> Mover::next_descent(std::uint32_t tier) const {
  for (auto below = tier + 1; below < core_.tiers.count(); ++below) {
    if (core_.slots.left_out(below)) continue;
    const auto candidate = coldest(tier, below);
    if (!candidate) continue;
    if (core_.slots.free_about(below) > 0) return Descent{*candidate, below};
    // Clean bytes of a lower tier make way for anything from above.
    if (evict_one(core_, below, EvictionOrder::kLeastRecent, ~0u)) return Descent{*candidate, below};
  }
  return std::nullopt;
}

// Of those that may go to `below`. What is to be there and nowhere else goes first.
std::optional<Mover::Candidate> Mover::coldest(std::uint32_t tier, std::uint32_t below) const {
  auto& hand = core_.control.shared().tiers[tier].hand;
  const auto available = core_.slots.available(tier);
  const auto first = core_.tiers[tier].first_slot;
  std::optional<Candidate> best;
  std::uint32_t best_idle = 0;
  const auto now = core_.control.tick();
  std::uint32_t seen = 0;
  for (std::uint32_t looked = 0; looked < available && seen < kCandidates; ++looked) {
    const auto word =
        core_.slots.word(first + hand.fetch_add(1, std::memory_order_relaxed) % available).load();
    const auto index = slot_bucket(word);
    if (slot_owner(word) != kLinked || index >= core_.control.header().bucket_count) continue;
    const auto& bucket = core_.control.bucket(index);
    const Candidate candidate{index, bucket.key.load(), bucket.version.load(std::memory_order_acquire)};
    const bool busy = bucket.claimer.load() != 0 || bucket.lock.load() != 0 || (candidate.version & 1) != 0;
    if (candidate.key == 0 || busy || (bucket.flags.load() & (kBucketPinned | kBucketDamaged)) != 0) continue;
    if (std::ranges::any_of(moving_, [&](const Moving& m) { return m.candidate.bucket == index; })) continue;
    const auto only = key_file(candidate.key) < core_.control.header().file_count
                          ? core_.control.file(key_file(candidate.key)).only_tier.load()
                          : 0;
    if (only != 0 && only != below + 1) continue;
    ++seen;
    const auto idle = only != 0 ? ~std::uint32_t{0} : ticks_since(bucket.used.load(), now);
    if (best && idle <= best_idle) continue;
    best = candidate;
    best_idle = idle;
  }
  return best;
}

bool Mover::settle(const Candidate& candidate, std::uint32_t slot) {
  const auto guard = core_.buckets.lock(candidate.bucket, candidate.key);
  auto& bucket = core_.control.bucket(candidate.bucket);
  const auto old = bucket.place.load() - 1;
  // What is on its way home is written from memory where it lies in memory, and from a copy elsewhere.
  const bool busy = bucket.claimer.load() != 0 && core_.tiers.data(old) != nullptr;
  if (!guard || !*guard || bucket.version.load() != candidate.version || busy) {
    core_.slots.give_back(slot);
    return false;
  }
  {
    const Change change(bucket);
    core_.slots.hold(old, candidate.bucket);
    core_.control.weights(slot, candidate.key)
        .copy_words(core_.control.weights(old, candidate.key), core_.bucket_size() / PageWeights::kPage);
    FOREBAY_CRASH_POINT("move.before_place");
    bucket.place.store(slot + 1, std::memory_order_release);  // S1
    FOREBAY_CRASH_POINT("move.placed");
    core_.slots.link(slot, candidate.bucket);
  }
  core_.slots.give_back(old);
  core_.buckets.announce_room();
  return true;
}

bool Mover::demote_one(std::uint32_t tier) {
  const auto descent = next_descent(tier);
  if (!descent) return evict_one(core_, tier, EvictionOrder::kLeastRecent, ~0u);
  const auto& [candidate, below] = *descent;
  const auto slot = core_.slots.take(below, candidate.bucket);
  if (!slot) return false;
  const auto* data = core_.buckets.data(core_.control.bucket(candidate.bucket));
  auto& target = core_.tiers[below];
  if (data == nullptr) {
    core_.slots.give_back(*slot);
    return false;
  }
  if (target.mapped) {
    std::memcpy(target.mapped->slot(*slot - target.first_slot), data, core_.bucket_size());
  } else if (const auto status = target.block->write(*slot - target.first_slot, data); !status) {
    core_.slots.note_failure(below, status.error());
    core_.slots.give_back(*slot);
    return false;
  }
  if (settle(candidate, *slot)) count(core_.counters().demotions);
  return true;
}

void Mover::reap(std::chrono::milliseconds wait) {
  const auto done = queue_->reap(wait);
  if (!done) return;
  const auto found = std::ranges::find_if(moving_, [&](const Moving& m) { return m.slot == done->cookie; });
  if (found == moving_.end()) return;
  const auto moving = *found;
  moving_.erase(found);
  if (!done->status) {
    core_.slots.note_failure(queue_tier_, done->status.error());
    core_.slots.give_back(moving.slot);
  } else if (settle(moving.candidate, moving.slot)) {
    count(core_.counters().demotions);
  }
}

bool Mover::demote_through_queue(std::uint32_t tier) {
  const auto wanted = high_water(tier);
  auto tries = std::uint64_t{core_.tiers[tier].slots} * kRounds;
  bool taken = true;
  while (core_.slots.free_about(tier) + moving_.size() < wanted && tries-- > 0) {
    const auto descent = next_descent(tier);
    const bool ours = descent && descent->below == queue_tier_;
    const auto slot = ours ? core_.slots.take(queue_tier_, descent->candidate.bucket) : std::nullopt;
    taken = slot.has_value();
    if (!taken) break;
    const auto* data = core_.buckets.data(core_.control.bucket(descent->candidate.bucket));
    if (data == nullptr) {
      core_.slots.give_back(*slot);
      continue;
    }
    moving_.push_back({descent->candidate, *slot});
    while (!queue_->submit_write(*slot - core_.tiers[queue_tier_].first_slot, data, *slot)) {
      reap(std::chrono::milliseconds(1000));
    }
    while (queue_->in_flight() >= kDepth) reap(std::chrono::milliseconds(1000));
  }
  while (!moving_.empty() && queue_->in_flight() > 0) reap(std::chrono::milliseconds(1000));
  return taken;
}

void Mover::keep_room(std::uint32_t tier) {
  if (core_.slots.free_about(tier) >= low_water(tier) || tier + 1 >= core_.tiers.count()) return;
  const auto descent = next_descent(tier);
  const bool through_queue = queue_ && descent && descent->below == queue_tier_ && core_.tiers[tier].mapped;
  // One at a time only where many at a time do not go any more: the disk would have nothing to do in between.
  if (through_queue && demote_through_queue(tier)) return;
  for (std::uint32_t i = 0; i < core_.tiers[tier].slots && core_.slots.free_about(tier) < high_water(tier);
       ++i) {
    if (!demote_one(tier)) break;
  }
}

Status Mover::promote(Key key) {
  const auto found = core_.buckets.find(key);
  if (!found) return {};
  auto& bucket = core_.control.bucket(*found);
  const Candidate candidate{*found, key, bucket.version.load(std::memory_order_acquire)};
  const auto place = bucket.place.load(std::memory_order_acquire);
  if (place == 0 || bucket.key.load() != key || (candidate.version & 1) != 0) return {};
  if (core_.tiers.data(place - 1) != nullptr) return {};
  const auto only = core_.control.file(key_file(key)).only_tier.load();
  const bool must_be_there = only != 0 && only <= core_.tiers.count() && core_.tiers[only - 1].mapped;
  for (std::uint32_t tier = 0; tier < core_.tiers.count(); ++tier) {
    auto& target = core_.tiers[tier];
    if (!target.mapped || (must_be_there && tier + 1 != only)) continue;
    const auto take = [&] {
      return room_is_claimed(core_, key_file(key)) ? std::nullopt : core_.slots.take(tier, *found);
    };
    auto slot = take();
    while (!slot && evict_one(core_, tier, EvictionOrder::kLeastRecent, key_file(key))) slot = take();
    if (!slot) continue;
    note_use(tier);
    // Of a bucket without a byte that counts, none need come; should that change meanwhile, so does the
    // version.
    const auto states = core_.buckets.view(*found);
    const bool empty = !states.fragmented() && !states.any(0, states.size(), readable);
    auto* const to = target.mapped->slot(*slot - target.first_slot);
    if (const auto status = empty ? Status{} : core_.tiers.read(place - 1, 0, core_.bucket_size(), to);
        !status) {
      core_.slots.give_back(*slot);
      core_.slots.note_failure(core_.tiers.of_slot(place - 1).index, status.error());
      // Home has what is clean.
      if (core_.buckets.evict(*found, key)) return {};
      return status;
    }
    if (settle(candidate, *slot)) count(core_.counters().promotions);
    return {};
  }
  press();
  return fail(ENOBUFS, "no room in the mapped tiers");
}

}  // namespace forebay
