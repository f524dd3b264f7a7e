#include "engine/stage.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "base/format.hpp"
#include "base/prefetch.hpp"
#include "engine/crash_point.hpp"
#include "engine/dirty_filter.hpp"
#include "engine/evictor.hpp"
#include "engine/reservations.hpp"
#include "engine/truncate.hpp"
#include "os/futex.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRoomTick = std::chrono::milliseconds(20);

void raise_size(FileRecord& file, std::uint64_t end) {
  auto seen = file.size.load(std::memory_order_relaxed);
  while (seen < end && !file.size.compare_exchange_weak(seen, end, std::memory_order_release)) {
  }
}

PlacementPolicy policy_of(Placement placement) {
  switch (placement) {
    case Placement::MaxLocality:
      return PlacementPolicy::kMaxLocality;
    case Placement::User:
      return PlacementPolicy::kUser;
    case Placement::MaxBandwidth:
      break;
  }
  return PlacementPolicy::kMaxBandwidth;
}

}  // namespace

// The mapped tiers that may take the bucket, in the order to try them.
PlacementOrder Stager::tiers_for(Key key, const FileSettings& settings) const {
  PlacementOrder mapped;
  std::array<PlacementTier, kPlacementTiers> figures{};
  // To a tier that is not mapped it gets by way of the others: see Mover::next_descent.
  const auto only = core_.tiers.number_of(settings.tier);
  const bool must_be_there = only && core_.tiers[*only].mapped;
  for (std::uint32_t tier = 0; tier < core_.tiers.count(); ++tier) {
    if (!core_.tiers[tier].mapped || (must_be_there && tier != *only)) continue;
    figures[mapped.count] = {core_.tiers[tier].bandwidth};
    mapped.tiers[mapped.count++] = static_cast<std::uint8_t>(tier);
  }
  if (mapped.count < 2) return mapped;
  PlacementRequest request;
  const auto before = key_block(key) == 0 ? std::nullopt : core_.buckets.find(key - 1);
  const auto place_before = before ? core_.control.bucket(*before).place.load(std::memory_order_relaxed) : 0;
  for (std::size_t i = 0; i < mapped.count; ++i) {
    if (place_before != 0 && core_.tiers[mapped.tiers[i]].holds(place_before - 1)) request.neighbour = i;
  }
  auto order = place(policy_of(settings.placement), {figures.data(), mapped.count}, request);
  for (std::size_t i = 0; i < order.count; ++i) order.tiers[i] = mapped.tiers[order.tiers[i]];
  return order;
}

Result<std::uint32_t> Stager::bucket_for(Key key, const FileSettings& settings) {
  if (const auto found = core_.buckets.find(key)) return *found;
  FOREBAY_TRY(check_not_lost(core_, key));
  const auto order = tiers_for(key, settings);
  for (const std::uint32_t tier : order.all()) {
    do {
      if (room_is_claimed(core_, key_file(key))) continue;
      const auto inserted = core_.buckets.insert(key, tier);
      if (inserted) {
        mover_.note_use(tier);
        return inserted->bucket;
      }
      if (inserted.error().code != ENOBUFS) return std::unexpected(inserted.error());
    } while (evict_one(core_, tier, order_of(settings.eviction), key_file(key)));
  }
  return fail(ENOBUFS, "no room in the mapped tiers");
}

Result<std::uint32_t> Stager::bucket_by(Key key, const FileSettings& settings, Clock::time_point deadline) {
  for (;;) {
    const auto room = core_.control.shared().room.load(std::memory_order_acquire);
    auto bucket = bucket_for(key, settings);
    if (bucket || bucket.error().code != ENOBUFS || Clock::now() >= deadline) return bucket;
    drainer_.press();
    mover_.press();
    FOREBAY_TRY(wait_for_room(room));
  }
}

bool Stager::take(const BucketView& states, std::byte* bytes, const Part& part) {
  const auto at = part.at;
  const auto end = at + part.length;
  prefetch(bytes + at, part.length);
  bool some_invalid = false;
  bool some_saved = false;  // or on their way
  bool some_readable = false;
  states.for_each(at, end, [&](std::uint32_t, std::uint32_t, ByteState s) {
    some_invalid = some_invalid || s == ByteState::kInvalid;
    some_saved = some_saved || s == ByteState::kValid || s == ByteState::kClaimed;
    some_readable = some_readable || readable(s);
  });
  // W1: what is Valid or Claimed becomes Dirty before its bytes change.
  if (some_saved &&
      !states.rewrite(at, end, [](ByteState s) { return readable(s) ? ByteState::kDirty : s; })) {
    return false;
  }
  FOREBAY_CRASH_POINT("stage.before_copy");
  const auto weights = states.weights();
  if (some_readable && some_invalid) {
    states.for_each(at, end, [&](std::uint32_t b, std::uint32_t e, ByteState s) {
      if (readable(s)) weights.take_off(bytes, b, e);
    });
  }
  const auto place = states.bucket().place.load(std::memory_order_relaxed);
  core_.tiers.copy_in(place - 1, at, part.data, part.length, weights,
                      some_invalid ? PageWeights::Old::kNone : PageWeights::Old::kCounted);
  FOREBAY_CRASH_POINT("stage.copied");
  if (some_invalid && !states.rewrite(at, end, [](ByteState) { return ByteState::kDirty; })) {
    // The copied bytes are Invalid still or again, so that they do not count; those that were readable do.
    states.trust(bytes);
    return false;
  }
  FOREBAY_CRASH_POINT("stage.dirty");
  return true;
}

Result<Stager::Outcome> Stager::try_put(const FileSettings& settings, Key key, Parts parts,
                                        std::size_t& taken) {
  const auto index = bucket_for(key, settings);
  if (!index && index.error().code == ENOBUFS) return Outcome::kNoRoom;
  if (!index) return std::unexpected(index.error());
  FOREBAY_ASSIGN(const auto guard, core_.buckets.lock(*index, key));
  if (!guard) return Outcome::kAgain;
  auto& bucket = core_.control.bucket(*index);
  auto& file = core_.control.file(key_file(key));
  expect_dirty(file, key_block(key));
  if (file.intent.load() != 0) return Outcome::kTruncating;
  if ((bucket.flags.load(std::memory_order_relaxed) & kBucketDamaged) != 0) {
    return fail(EIO, format_text("block {} of {} was damaged in the buffer", key_block(key),
                                 core_.files.path(key_file(key))));
  }
  if (bucket.place.load(std::memory_order_relaxed) == 0) return Outcome::kBusy;
  std::byte* bytes = core_.buckets.data(bucket);
  if (bytes == nullptr) return Outcome::kNotMapped;

  const auto states = core_.buckets.view(*index);
  const bool was_clean = bucket.dirty_since.load(std::memory_order_relaxed) == 0;
  std::uint32_t end = 0;
  {
    const Change change(bucket);
    if (was_clean) note_dirty(file, key_block(key));  // W3
    for (; taken < parts.size() && take(states, bytes, parts[taken]); ++taken)
      end = std::max(end, parts[taken].at + parts[taken].length);
    if (taken != 0) {
      if (was_clean) bucket.dirty_since.store(core_.control.tick(), std::memory_order_relaxed);
      raise_size(file, key_block(key) * core_.bucket_size() + end);
      FOREBAY_CRASH_POINT("stage.sized");
    }
  }
  if (taken == 0) return Outcome::kFragmented;
  touch(core_, bucket, settings.eviction);
  if (was_clean || end == core_.bucket_size()) drainer_.kick();
  return taken == parts.size() ? Outcome::kStaged : Outcome::kFragmented;
}

Status Stager::wait_for_room(std::uint32_t seen) const {
  auto& shared = core_.control.shared();
  shared.room_waiters.fetch_add(1);
  futex_wait(shared.room, seen, kRoomTick);
  shared.room_waiters.fetch_sub(1);
  return {};
}

Result<bool> Stager::straight_home(const HomeFile& home, Key key, const Part& part, std::uint64_t& taken) {
  auto& file = core_.control.file(key_file(key));
  expect_dirty(file, key_block(key));
  const auto inserted = core_.buckets.insert(key, BucketTable::kNoTier);
  if (!inserted && inserted.error().code != ENOBUFS) return std::unexpected(inserted.error());
  // Somebody staged the block meanwhile, or even descriptors are short: the ordinary way again.
  if (!inserted || !inserted->fresh) return false;
  FOREBAY_CRASH_POINT("straight.linked");
  const auto unlink = [&] {
    auto& bucket = core_.control.bucket(inserted->bucket);
    const auto guard = core_.buckets.lock(inserted->bucket, key);
    // What cannot be unlinked now is unlinked by whoever wants the block next, or by a sweep.
    if (!guard || (*guard && !core_.buckets.remove(inserted->bucket, key))) bucket.claimer.store(0);
    futex_wake(bucket.claimer);
  };
  // A truncation that begins from here on finds the bucket and waits for it.
  if (file.intent.load() != 0) {
    unlink();
    FOREBAY_TRY(help_truncation(core_, drain_, home.file(), &home));
    return false;
  }
  FOREBAY_CRASH_POINT("straight.before_write");
  iovec piece{const_cast<std::byte*>(part.data), part.length};
  const auto offset = key_block(key) * core_.bucket_size() + part.at;
  const auto written = home.write_some({&piece, 1}, offset);
  FOREBAY_CRASH_POINT("straight.written");
  if (written) raise_size(file, offset + *written);
  unlink();
  if (!written) return std::unexpected(written.error());
  count(core_.counters().straight_home_bytes, *written);
  taken += *written;
  if (*written != part.length) return fail(EIO, "home took only a part of a write to " + home.path());
  return true;
}

Status Stager::put_parts(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                         std::uint64_t block, Parts parts, Way way, std::uint64_t& bytes_taken) {
  const auto key = home->key(block);
  if (way == Way::kStraightHome && !core_.buckets.find(key)) {
    FOREBAY_ASSIGN(const auto done, straight_home(*home, key, parts.front(), bytes_taken));
    if (done) parts = parts.subspan(1);
    if (parts.empty()) return {};
  }
  Clock::time_point patience_ends{};
  Clock::time_point waiting_since{};
  for (;;) {
    const auto room = core_.control.shared().room.load(std::memory_order_acquire);
    std::size_t taken = 0;
    FOREBAY_ASSIGN(const auto outcome, try_put(settings, key, parts, taken));
    for (const auto& part : parts.first(taken)) {
      core_.tally.add(&Counters::staged_bytes, part.length);
      bytes_taken += part.length;
    }
    parts = parts.subspan(taken);
    switch (outcome) {
      case Outcome::kStaged:
        if (waiting_since != Clock::time_point{}) {
          count(core_.counters().waits_for_room);
          count(core_.counters().wait_ns, static_cast<std::uint64_t>((Clock::now() - waiting_since).count()));
        }
        return {};
      case Outcome::kAgain:
        break;
      case Outcome::kTruncating:
        FOREBAY_TRY(help_truncation(core_, drain_, home->file(), home.get()));
        break;
      case Outcome::kBusy: {
        HomeWait wait(core_, home->file());
        FOREBAY_TRY(drain_.wait_for_claim(home->file(), block, wait));
        if (const auto found = core_.buckets.find(key)) {
          // Left by a dead process that was writing straight home: nothing is in it.
          const auto guard = core_.buckets.lock(*found, key);
          const auto& bucket = core_.control.bucket(*found);
          if (guard && *guard && bucket.place.load() == 0 && bucket.claimer.load() == 0)
            core_.buckets.remove(*found, key);
        }
        break;
      }
      case Outcome::kFragmented:
        // Home takes what is there; then the clean pieces can be forgotten.
        FOREBAY_TRY(drainer_.flush(home, block, block));
        drop_buckets(core_, home->file(), block, block, Drop::kClean);
        break;
      case Outcome::kNotMapped: {
        const auto moved = mover_.promote(key);
        if (moved || moved.error().code != ENOBUFS) {
          FOREBAY_TRY(moved);
          break;
        }
        [[fallthrough]];
      }
      case Outcome::kNoRoom: {
        const auto now = Clock::now();
        if (waiting_since == Clock::time_point{}) {
          waiting_since = now;
          patience_ends = now + core_.settings.pressure.wait;
        }
        drainer_.press();
        mover_.press();
        // Nobody else does it where the system has no thread for us.
        if (!drainer_.running()) FOREBAY_TRY(drainer_.flush(home, 0, kMaxBlock));
        if (now < patience_ends) {
          FOREBAY_TRY(wait_for_room(room));
          break;
        }
        if (outcome == Outcome::kNotMapped) {
          FOREBAY_TRY(drainer_.flush(home, block, block));
          drop_buckets(core_, home->file(), block, block, Drop::kClean);
        }
        FOREBAY_ASSIGN(const auto done, straight_home(*home, key, parts.front(), bytes_taken));
        if (done) parts = parts.subspan(1);
        if (parts.empty()) return {};
        if (done) break;
        // Somebody has the block by now; or so many write straight to a home that does not answer that there
        // is no descriptor left.
        if (now >= patience_ends + core_.settings.limits.home_wait)
          return fail(ETIMEDOUT, "there is no room for " + home->path() + ", and home does not answer");
        FOREBAY_TRY(wait_for_room(room));
        break;
      }
    }
  }
}

Result<std::uint64_t> Stager::put(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                                  std::span<const Piece> pieces, Way way) {
  std::array<Part, kMostParts> parts;  // NOLINT(*-member-init): filled as far as it is used
  std::size_t count = 0;
  std::uint64_t block = 0;  // of the parts
  std::uint64_t taken = 0;
  const auto put_gathered = [&]() -> Status {
    if (count == 0) return {};
    FOREBAY_TRY(put_parts(home, settings, block, {parts.data(), count}, way, taken));
    count = 0;
    return {};
  };
  const auto gather = [&](std::uint64_t offset, std::span<const std::byte> data) -> Status {
    while (!data.empty()) {
      const auto at = core_.place_in_block(offset);
      const auto length =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(core_.bucket_size() - at, data.size()));
      if (count == kMostParts || block != core_.block_of(offset)) FOREBAY_TRY(put_gathered());
      block = core_.block_of(offset);
      parts[count++] = {at, length, data.data()};
      offset += length;
      data = data.subspan(length);
    }
    return {};
  };
  Status status;
  for (std::size_t i = 0; status && i < pieces.size(); ++i) status = gather(pieces[i].offset, pieces[i].data);
  if (status) status = put_gathered();
  if (!status && taken == 0) return std::unexpected(status.error());
  return taken;
}

}  // namespace forebay
