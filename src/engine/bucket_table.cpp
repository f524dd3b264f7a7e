#include "engine/bucket_table.hpp"

#include <cerrno>
#include <cinttypes>
#include <vector>

#include "base/format.hpp"
#include "engine/crash_point.hpp"
#include "os/futex.hpp"

namespace forebay {
namespace {

// Neighbouring blocks of a file have neighbouring chains: who goes through a file meets the same lines again.
constexpr unsigned kNeighbourBits = 4;
std::uint64_t mix(Key key) {
  auto mixed = key >> kNeighbourBits;
  mixed ^= mixed >> 32;
  mixed *= 0xd6e8'feb8'6659'fd93;
  mixed ^= mixed >> 29;
  return mixed << kNeighbourBits | (key & ((1u << kNeighbourBits) - 1));
}

void raise_to(Wide& word, std::uint64_t value) {
  auto seen = word.load(std::memory_order_relaxed);
  while (seen < value && !word.compare_exchange_weak(seen, value, std::memory_order_release)) {
  }
}

// A descriptor that no chain reaches any more, in the middle of a Change.
void make_empty(const BucketView& view) {
  auto& bucket = view.bucket();
  bucket.key.store(0, std::memory_order_release);
  bucket.place.store(0, std::memory_order_relaxed);
  bucket.claimer.store(0, std::memory_order_relaxed);
  view.reset(ByteState::kInvalid);
}

}  // namespace

std::uint32_t BucketTable::chain_number(Key key) const {
  return static_cast<std::uint32_t>(mix(key)) & (control_.header().chain_count - 1);
}

inline Chain& BucketTable::chain_of(Key key) const {
  return control_.chain(static_cast<std::uint32_t>(mix(key)) & (control_.header().chain_count - 1));
}

std::optional<std::uint32_t> BucketTable::find(Key key) const {
  auto& chain = chain_of(key);
  const auto count = control_.header().bucket_count;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto sequence = chain.sequence.load(std::memory_order_acquire);
    auto at = chain.head.load(std::memory_order_acquire);
    for (std::uint32_t steps = 0; at != 0 && at <= count && steps < count; ++steps) {
      const auto& bucket = control_.bucket(at - 1);
      // Whoever finds it looks at its states next: one wait for memory instead of two.
      for (const auto& list : bucket.lists) __builtin_prefetch(&list);
      if (bucket.key.load(std::memory_order_acquire) == key) return at - 1;
      at = bucket.next.load(std::memory_order_acquire);
    }
    // X2: a walk that a concurrent unlink may have led astray proves nothing.
    if (chain.sequence.load(std::memory_order_acquire) == sequence) return std::nullopt;
  }
  // Unlinks without end: they stop for whoever has the lock.
  const bool locked = peers_.lock(chain.lock) != Locked::kTimedOut;
  auto at = chain.head.load();
  for (std::uint32_t steps = 0; at != 0 && at <= count && steps < count; ++steps) {
    if (control_.bucket(at - 1).key.load() == key) break;
    at = control_.bucket(at - 1).next.load();
  }
  if (locked) peers_.unlock(chain.lock);
  return at == 0 || at > count ? std::nullopt : std::optional(at - 1);
}

template <class Visit>
bool BucketTable::walk(const Chain& chain, Visit&& visit) const {
  const auto count = control_.buckets_ready();
  auto at = chain.head.load();
  std::uint32_t steps = 0;
  for (; at != 0 && at <= count && steps < count; ++steps) {
    visit(at - 1);
    at = control_.bucket(at - 1).next.load();
  }
  return at == 0;
}

void BucketTable::mark_damaged(std::uint32_t bucket) const {
  const auto before = control_.bucket(bucket).flags.fetch_or(kBucketDamaged);
  if ((before & kBucketDamaged) == 0)
    peers_.record().counters.damaged.fetch_add(1, std::memory_order_relaxed);
}

// Has it a key that is not the one its states were noted for? Not known of one that is being changed.
bool BucketTable::key_damaged(std::uint32_t index) const {
  const auto& bucket = control_.bucket(index);
  const auto version = bucket.version.load(std::memory_order_acquire);
  const bool whole =
      states_whole(bucket, control_.bucket_size(), bucket.map_sum.load(std::memory_order_relaxed));
  std::atomic_thread_fence(std::memory_order_acquire);
  return !whole && (version & 1) == 0 && bucket.version.load(std::memory_order_relaxed) == version;
}

bool BucketTable::lost(Key key) const {
  auto& chain = chain_of(key);
  const auto number = chain_number(key);
  std::vector<std::uint32_t> strays;
  const auto look = [&] {
    strays.clear();
    return walk(chain, [&](std::uint32_t bucket) {
      const auto there = control_.bucket(bucket).key.load(std::memory_order_acquire);
      if (there == 0 || chain_number(there) != number || key_damaged(bucket)) strays.push_back(bucket);
    });
  };
  // Without the lock a change under way looks like damage.
  if (look() && strays.empty()) return false;
  if (peers_.lock(chain.lock) == Locked::kTimedOut) return false;
  const bool whole = look();
  peers_.unlock(chain.lock);
  for (const auto bucket : strays) mark_damaged(bucket);
  return !whole || !strays.empty();
}

std::optional<std::uint32_t> BucketTable::take_descriptor() {
  for (;;) {
    const auto count = control_.buckets_ready();
    auto at = next_.load(std::memory_order_relaxed) % count;
    for (std::uint32_t i = 0; i < count; ++i, at = at + 1 == count ? 0 : at + 1) {
      auto& owner = control_.bucket_owner(at);
      std::uint32_t free = 0;
      if (owner.load(std::memory_order_relaxed) == 0 &&
          owner.compare_exchange_strong(free, peers_.self(), std::memory_order_acquire)) {
        next_.store(at + 1, std::memory_order_relaxed);
        return at;
      }
    }
    if (!control_.grow_buckets(count)) return std::nullopt;
    next_.store(count + place_to_start(peers_.self(), control_.buckets_ready() - count),
                std::memory_order_relaxed);
  }
}

void BucketTable::release_descriptor(std::uint32_t bucket) const {
  control_.bucket_owner(bucket).store(0, std::memory_order_release);
  // Lowest first, so that what was used before is used again; but never a long way to the only one.
  const auto next = next_.load(std::memory_order_relaxed) % control_.buckets_ready();
  if (bucket < next || control_.bucket_owner(next).load(std::memory_order_relaxed) != 0) {
    next_.store(bucket, std::memory_order_relaxed);
  }
}

Result<BucketTable::Inserted> BucketTable::insert(Key key, std::uint32_t tier) {
  const auto taken = take_descriptor();
  if (!taken) return fail(ENOBUFS, "every bucket descriptor is in use");
  const auto index = *taken;
  auto& bucket = control_.bucket(index);
  std::optional<std::uint32_t> slot;
  if (tier != kNoTier) {
    slot = slots_.take(tier, index);
    if (!slot) {
      release_descriptor(index);
      return fail(ENOBUFS, "the tier is full");
    }
  }
  FOREBAY_CRASH_POINT("insert.in_hand");
  const auto abandon = [&] {
    if (slot) slots_.give_back(*slot);
    release_descriptor(index);
  };
  if (peers_.lock(bucket.lock) == Locked::kTimedOut) {
    abandon();
    return fail(ETIMEDOUT, "a free bucket's lock is held by a process that does not go on");
  }
  BucketLock guard(peers_, bucket);
  auto& chain = chain_of(key);
  if (peers_.lock(chain.lock) == Locked::kTimedOut) {
    guard.unlock();
    abandon();
    return fail(ETIMEDOUT, "the index is held by a process that does not go on");
  }
  if (const auto found = find(key)) {
    peers_.unlock(chain.lock);
    guard.unlock();
    abandon();
    return Inserted{*found, false};
  }
  {
    const Change change(bucket);
    bucket.key.store(key, std::memory_order_relaxed);
    bucket.place.store(slot ? *slot + 1 : 0, std::memory_order_relaxed);
    bucket.claimer.store(slot ? 0 : peers_.self(), std::memory_order_relaxed);
    if (slot) view(index).reset_weights();
    bucket.hits.store(0, std::memory_order_relaxed);
    bucket.flags.fetch_and(kBucketForgets, std::memory_order_relaxed);
    if ((control_.file(key_file(key)).flags.load(std::memory_order_relaxed) & kFilePinsAll) != 0)
      bucket.flags.fetch_or(kBucketPinned, std::memory_order_relaxed);
    note_forgetting(bucket);
    bucket.dirty_since.store(0, std::memory_order_relaxed);
    const auto now = control_.tick();
    bucket.used.store(now, std::memory_order_relaxed);
    view(index).reset(ByteState::kInvalid);
    bucket.next.store(chain.head.load(std::memory_order_relaxed), std::memory_order_release);
    // Never less than the truth: a file that seems to have no bucket is not searched.
    control_.file(key_file(key)).buckets.fetch_add(1);
    FOREBAY_CRASH_POINT("insert.before_head");
    chain.head.store(index + 1, std::memory_order_release);
    // Before the look at a truncate intent that comes next: see truncate_file.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    FOREBAY_CRASH_POINT("insert.after_head");
    control_.bucket_owner(index).store(kLinked, std::memory_order_release);
    FOREBAY_CRASH_POINT("insert.before_slot_linked");
    if (slot) slots_.link(*slot, index);
  }
  peers_.unlock(chain.lock);
  return Inserted{index, true};
}

// A descriptor in dead hands was being linked or unlinked: Linked if its chain reaches it, else the unlinking
// is finished. The caller holds its lock. False when the chain's lock cannot be had.
bool BucketTable::free_from_dead_hands(std::uint32_t index) const {
  auto& owner = control_.bucket_owner(index);
  const auto who = owner.load(std::memory_order_acquire);
  if (who == 0 || who == kLinked || peers_.alive(who)) return true;
  auto& bucket = control_.bucket(index);
  if (const auto key = bucket.key.load(); key != 0) {
    auto& chain = chain_of(key);
    if (peers_.lock(chain.lock) == Locked::kTimedOut) return false;
    const bool linked = reachable(chain, index);
    // X2: the dead may have unlinked it and not come that far.
    if (!linked) chain.sequence.fetch_add(1, std::memory_order_release);
    peers_.unlock(chain.lock);
    if (linked) {
      owner.store(kLinked, std::memory_order_release);
      return true;
    }
  }
  {
    const Change change(bucket);
    make_empty(view(index));
  }
  FOREBAY_CRASH_POINT("sweep.before_free");
  release_descriptor(index);
  return true;
}

void BucketTable::trust_what_is_there(const Bucket& bucket, const BucketView& states) const {
  std::vector<std::byte> copy;
  const auto* bytes = data(bucket);
  const auto place = bucket.place.load();
  if (bytes == nullptr && place != 0) {
    copy.resize(states.size());
    if (tiers_.read(place - 1, 0, states.size(), copy.data())) bytes = copy.data();
  }
  states.trust(bytes);
}

bool BucketTable::put_right(std::uint32_t index, bool taken_over) const {
  auto& bucket = control_.bucket(index);
  const auto states = view(index);
  // First of all: staging into what a dead process has unlinked already would be staging into nothing.
  if (!free_from_dead_hands(index)) return false;
  if (taken_over) {
    const bool changing = (bucket.version.load(std::memory_order_relaxed) & 1) != 0;
    // Whoever looks without the lock must see all of it or nothing.
    const Change change(bucket);
    if (changing) trust_what_is_there(bucket, states);
    // W2: the dead owner may have published Dirty and not the size.
    const auto key = bucket.key.load();
    std::uint64_t last = 0;
    states.for_each(0, states.size(), [&](std::uint32_t, std::uint32_t end, ByteState s) {
      if (unsaved(s)) last = end;
    });
    // W3 leans on it: 0 exactly when nothing is unsaved.
    bucket.dirty_since.store(last == 0 ? 0 : control_.tick(), std::memory_order_relaxed);
    if (key != 0 && last != 0 && key_file(key) < control_.header().file_count) {
      raise_to(control_.file(key_file(key)).size, key_block(key) * states.size() + last);
    }
  }
  const auto claimer = bucket.claimer.load(std::memory_order_acquire);
  if (claimer != 0 && !peers_.alive(claimer)) {
    const Change change(bucket);
    FOREBAY_CRASH_POINT("unclaim.before");
    // Whole-bucket maps never add runs: this cannot fail.
    (void)states.rewrite(
        0, states.size(), [](ByteState s) { return s == ByteState::kClaimed ? ByteState::kDirty : s; },
        Room::kAll);
    FOREBAY_CRASH_POINT("unclaim.before_claimer");
    bucket.claimer.store(0, std::memory_order_release);
  }
  return true;
}

Result<BucketLock> BucketTable::lock(std::uint32_t index, Key key) const {
  auto& bucket = control_.bucket(index);
  const auto locked = peers_.lock(bucket.lock);
  if (locked == Locked::kTimedOut) {
    return fail(ETIMEDOUT,
                format_text("block {} of file {} of the buffer is locked by process {}, which does not go on",
                            key_block(key), key_file(key),
                            control_.lease(lease_slot(bucket.lock.load())).pid.load()));
  }
  BucketLock guard(peers_, bucket);
  const auto claimer = bucket.claimer.load(std::memory_order_relaxed);
  const bool maybe_dead_claim = claimer != 0 && claimer != peers_.self();
  if ((locked == Locked::kTakenOver || maybe_dead_claim) && !put_right(index, locked == Locked::kTakenOver)) {
    return fail(ETIMEDOUT, "the index is held by a process that does not go on");
  }
  if (bucket.key.load(std::memory_order_relaxed) != key) return BucketLock{};
  return guard;
}

BucketLock BucketTable::try_lock(std::uint32_t index, Key key) const {
  auto& bucket = control_.bucket(index);
  const auto locked = peers_.try_lock(bucket.lock);
  if (locked == Locked::kTimedOut) return {};
  BucketLock guard(peers_, bucket);
  if (locked == Locked::kTakenOver && !put_right(index, true)) return {};
  if (bucket.key.load(std::memory_order_relaxed) != key) return {};
  return guard;
}

bool BucketTable::reachable(const Chain& chain, std::uint32_t bucket) const {
  bool found = false;
  (void)walk(chain, [&](std::uint32_t at) { found = found || at == bucket; });
  return found;
}

void BucketTable::unlink(Chain& chain, std::uint32_t bucket) const {
  const auto count = control_.header().bucket_count;
  Word* link = &chain.head;
  for (std::uint32_t steps = 0; steps <= count; ++steps) {
    const auto at = link->load();
    if (at == 0 || at > count) return;
    if (at == bucket + 1) {
      link->store(control_.bucket(bucket).next.load(), std::memory_order_release);
      return;
    }
    link = &control_.bucket(at - 1).next;
  }
}

bool BucketTable::remove(std::uint32_t index, Key key) {
  auto& bucket = control_.bucket(index);
  auto& chain = chain_of(key);
  if (peers_.lock(chain.lock) == Locked::kTimedOut) return false;
  const auto place = bucket.place.load();
  if (!reachable(chain, index) || place > control_.header().slot_count ||
      key_file(key) >= control_.header().file_count) {
    peers_.unlock(chain.lock);
    mark_damaged(index);
    return false;
  }
  control_.bucket_owner(index).store(peers_.self(), std::memory_order_release);
  if (place != 0) slots_.hold(place - 1, index);
  FOREBAY_CRASH_POINT("evict.in_hand");
  {
    const Change change(bucket);
    unlink(chain, index);
    FOREBAY_CRASH_POINT("evict.unlinked");
    chain.sequence.fetch_add(1, std::memory_order_release);  // X2
    make_empty(view(index));
  }
  FOREBAY_CRASH_POINT("evict.before_free");
  peers_.unlock(chain.lock);
  if (place != 0) slots_.give_back(place - 1);
  FOREBAY_CRASH_POINT("evict.slot_free");
  release_descriptor(index);
  control_.file(key_file(key)).buckets.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool BucketTable::evict(std::uint32_t index, Key key) {
  auto guard = try_lock(index, key);
  if (!guard) return false;
  auto& bucket = control_.bucket(index);
  const auto flags = bucket.flags.load();
  if (bucket.claimer.load() != 0 || (flags & (kBucketPinned | kBucketDamaged)) != 0) return false;
  if (view(index).any_unsaved()) return false;
  // What it is the bytes of, and that they are saved, says what is checked here.
  if (!view(index).states_intact()) {
    mark_damaged(index);
    return false;
  }
  if (!remove(index, key)) return false;
  peers_.record().counters.evictions.fetch_add(1, std::memory_order_relaxed);
  guard.unlock();
  announce_room();
  return true;
}

void BucketTable::announce_room() const {
  auto& shared = control_.shared();
  shared.room.fetch_add(1, std::memory_order_release);
  if (shared.room_waiters.load(std::memory_order_acquire) != 0) futex_wake(shared.room);
}

// What the dead held of it changes under its lock only: whoever else comes by may have put it right, and
// given it to somebody, before the lock was had.
bool BucketTable::sweep_descriptor(std::uint32_t index) {
  auto& bucket = control_.bucket(index);
  const auto owner = control_.bucket_owner(index).load();
  const auto claimer = bucket.claimer.load();
  const bool in_dead_hands = owner != 0 && owner != kLinked && !peers_.alive(owner);
  // One that was linked for a write straight home, which is over one way or another.
  const auto left_over = [&] { return bucket.key.load() != 0 && bucket.place.load() == 0; };
  const bool straight = owner == kLinked && left_over() && (claimer == 0 || !peers_.alive(claimer));
  if (!in_dead_hands && !straight) return false;
  const auto locked = peers_.lock(bucket.lock);
  if (locked == Locked::kTimedOut) return false;
  const BucketLock guard(peers_, bucket);
  if (!put_right(index, locked == Locked::kTakenOver)) return false;
  if (control_.bucket_owner(index).load() == kLinked && left_over() && bucket.claimer.load() == 0) {
    remove(index, bucket.key.load());
  }
  return true;
}

bool BucketTable::sweep_slot(std::uint32_t slot) {
  auto& word = slots_.word(slot);
  auto seen = word.load();
  const auto owner = slot_owner(seen);
  const auto index = slot_bucket(seen);
  if (owner == 0 || owner == kLinked || peers_.alive(owner) || peers_.ring_alive(owner)) return false;
  if (index >= control_.header().bucket_count) return word.compare_exchange_strong(seen, 0);
  auto& bucket = control_.bucket(index);
  const auto locked = peers_.lock(bucket.lock);
  if (locked == Locked::kTimedOut) return false;
  const BucketLock guard(peers_, bucket);
  if (!put_right(index, locked == Locked::kTakenOver) || word.load() != seen) return false;
  // S1
  if (control_.bucket_owner(index).load() == kLinked && bucket.place.load() == slot + 1) {
    slots_.link(slot, index);
  } else {
    slots_.give_back(slot);
  }
  return true;
}

// What is linked must be where its key leads.
void BucketTable::sweep_index(std::uint32_t index) {
  auto& bucket = control_.bucket(index);
  const auto key = bucket.key.load(std::memory_order_acquire);
  if (control_.bucket_owner(index).load() != kLinked || (find(key) == index && !key_damaged(index))) return;
  const auto locked = peers_.lock(bucket.lock);
  if (locked == Locked::kTimedOut) return;
  const BucketLock guard(peers_, bucket);
  if (!put_right(index, locked == Locked::kTakenOver) || control_.bucket_owner(index).load() != kLinked)
    return;
  if (find(bucket.key.load()) != index || key_damaged(index)) mark_damaged(index);
}

void BucketTable::sweep() {
  bool found = false;
  const auto count = control_.buckets_ready();
  for (std::uint32_t i = 0; i < count; ++i) found = sweep_descriptor(i) || found;
  for (std::uint32_t i = 0; i < count; ++i) sweep_index(i);
  for (std::uint32_t tier = 0; tier < tiers_.count(); ++tier) {
    const auto first = tiers_[tier].first_slot;
    for (std::uint32_t i = 0, end = slots_.available(tier); i < end; ++i)
      found = sweep_slot(first + i) || found;
  }
  std::uint32_t maps = 0;
  for (std::uint32_t i = 0; i < count; ++i) maps += view(i).fragmented() ? 1 : 0;
  control_.shared().maps.store(maps, std::memory_order_relaxed);
  slots_.correct_hints();
  if (found) announce_room();
}

}  // namespace forebay
