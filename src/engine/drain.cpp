#include "engine/drain.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/format.hpp"
#include "base/log.hpp"
#include "engine/crash_point.hpp"
#include "engine/dirty_filter.hpp"
#include "engine/side_by_side.hpp"
#include "os/futex.hpp"
#include "os/own_file_size.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTick = std::chrono::milliseconds(20);
constexpr std::uint32_t kBridge = 64u << 10;
// Below this a request's time is home's latency, and so many more at a time take no longer: of each process a
// few times as many as large ones, and of the processes that have the file open together so many.
constexpr std::uint64_t kSmallRun = 64u << 10;
constexpr std::size_t kHelpersOfNode = 96;
constexpr unsigned kTimesAsMany = 3;

void add_piece(Shipment& shipment, std::uint64_t offset, const std::byte* data, std::uint32_t length) {
  auto* base = const_cast<std::byte*>(data);
  shipment.bytes += length;
  if (!shipment.runs.empty()) {
    auto& last = shipment.runs.back();
    if (last.offset + last.bytes == offset) {
      last.bytes += length;
      last.pieces.push_back({base, length});
      return;
    }
  }
  shipment.runs.push_back({offset, {{base, length}}, length});
}

}  // namespace

Drain::Drain(Core& core) : core_(core), helpers_((core.settings.drain.in_flight - 1) * kTimesAsMany) {}

Result<Claim> Drain::claim(Shipment& shipment, std::uint64_t block) {
  const auto file = shipment.home->file();
  auto& record = core_.control.file(file);
  const auto key = shipment.home->key(block);
  const auto found = core_.buckets.find(key);
  if (!found) {
    const auto status = check_not_lost(core_, key);
    if (status) return Claim::kNothing;
    note_error(file, status.error());
    return Claim::kDamaged;
  }
  FOREBAY_ASSIGN(auto guard, core_.buckets.lock(*found, key));
  if (!guard) return Claim::kNothing;
  auto& bucket = core_.control.bucket(*found);
  const auto states = core_.buckets.view(*found);
  if (bucket.claimer.load() != 0) return Claim::kBusy;
  if (record.intent.load() != 0 || core_.files.held_by_others(file)) return Claim::kStepBack;
  if ((bucket.flags.load() & kBucketDamaged) != 0) return Claim::kDamaged;
  std::uint32_t dirty_from = states.size();
  std::uint32_t dirty_to = 0;
  states.for_each(0, states.size(), [&](std::uint32_t b, std::uint32_t e, ByteState s) {
    if (s != ByteState::kDirty) return;
    dirty_from = std::min(dirty_from, b);
    dirty_to = e;
  });
  if (dirty_to == 0) return Claim::kNothing;

  const auto place = bucket.place.load();
  const std::byte* data = core_.buckets.data(bucket);
  std::unique_ptr<std::byte[]> copy;
  bool intact = place != 0 && states.states_intact();
  if (intact && data == nullptr) {
    // Bytes in a tier that is not mapped never change in place, so that reading them here needs no claim
    // first.
    copy = std::make_unique_for_overwrite<std::byte[]>(states.size());
    const auto read = core_.tiers.read(place - 1, 0, states.size(), copy.get());
    intact = read || read.error().code != EBADMSG;
    if (!read && intact) {
      note_error(file, read.error());
      return std::unexpected(read.error());
    }
    data = copy.get();
  }
  if (!intact || !states.bytes_intact(data, dirty_from, dirty_to)) {
    bucket.flags.fetch_or(kBucketDamaged);
    count(core_.counters().damaged);
    note_error(
        file,
        {EIO, format_text("the buffered bytes of block {} of {} were damaged in the buffer; they are kept "
                          "there and were not written home",
                          block, shipment.home->path())});
    return Claim::kDamaged;
  }
  {
    const Change change(bucket);
    bucket.claimer.store(core_.peers.self(), std::memory_order_release);  // D1
    FOREBAY_CRASH_POINT("claim.before_claimed");
    (void)states.rewrite(
        0, states.size(), [](ByteState s) { return s == ByteState::kDirty ? ByteState::kClaimed : s; },
        Room::kAll);
    FOREBAY_CRASH_POINT("claim.claimed");
  }
  const auto start = block * states.size();
  const bool alone =
      (record.flags.load(std::memory_order_relaxed) & (kFileExclusive | kFilePast)) == kFileExclusive;
  std::uint32_t claimed_to = 0;
  std::uint32_t valid_to = 0;  // all that lies between claimed_to and it is Valid
  states.for_each(0, states.size(), [&](std::uint32_t b, std::uint32_t e, ByteState s) {
    if (s == ByteState::kValid && b == valid_to) valid_to = e;
    if (s != ByteState::kClaimed) return;
    // Where nobody else can have written, what lies between two claims may go along: one write instead of
    // two.
    const bool bridge =
        alone && claimed_to != 0 && claimed_to < b && valid_to == b && b - claimed_to <= kBridge;
    if (bridge) add_piece(shipment, start + claimed_to, data + claimed_to, b - claimed_to);
    add_piece(shipment, start + b, data + b, e - b);
    claimed_to = valid_to = e;
  });
  if (copy) shipment.copies.push_back(std::move(copy));
  shipment.buckets.emplace_back(*found, key);
  shipment.next_block = block + 1;
  return Claim::kClaimed;
}

void Drain::settle(std::uint32_t index, Key key, ByteState claimed_becomes) {
  // A claim that is not settled keeps the block busy as long as this process lives (D2): worth more patience
  // with a stopped owner of the lock than anything else.
  const auto deadline = Clock::now() + core_.settings.limits.home_wait;
  auto guard = core_.buckets.lock(index, key);
  while (!guard && Clock::now() < deadline) guard = core_.buckets.lock(index, key);
  if (!guard || !*guard) return;
  auto& bucket = core_.control.bucket(index);
  const auto states = core_.buckets.view(index);
  {
    const Change change(bucket);
    (void)states.rewrite(
        0, states.size(), [=](ByteState s) { return s == ByteState::kClaimed ? claimed_becomes : s; },
        Room::kAll);
    FOREBAY_CRASH_POINT("complete.before_claimer");
    bucket.claimer.store(0, std::memory_order_release);  // D3
    if (claimed_becomes == ByteState::kValid) {
      states.compact();
      bucket.dirty_since.store(states.any_unsaved() ? core_.control.tick() : 0, std::memory_order_relaxed);
    }
  }
  guard->unlock();
  futex_wake(bucket.claimer);
}

Status Drain::write_run(const HomeFile& home, Shipment::Run& run) {
  const OwnFileSize own_size;
  keep_to_rate(home.file(), run.bytes);
  FOREBAY_CRASH_POINT("ship.before_write");
  {
    const BusyCall busy(core_.writing_home, core_.control, core_.counters().home_write_ns);
    FOREBAY_TRY(home.write(run.pieces, run.offset));
  }
  core_.landings.note(home.file(), Clock::now());
  core_.control.file(home.file()).last_used.store(core_.control.nanoseconds(), std::memory_order_relaxed);
  count(core_.counters().home_writes);
  count(core_.counters().home_written_bytes, run.bytes);
  return {};
}

std::size_t Drain::helpers_for(const Shipment& shipment) const {
  const auto& record = core_.control.file(shipment.home->file());
  if (shipment.bytes > shipment.runs.size() * kSmallRun) return 0;
  // Who writes there past the buffer waits for all that is under way.
  if ((record.flags.load(std::memory_order_relaxed) & kFilePast) != 0) return 0;
  const std::size_t sharers = std::max<std::uint32_t>(record.opens_hint.load(), 1);
  return std::min<std::size_t>(helpers_.limit(), std::max<std::size_t>(kHelpersOfNode / sharers, 1));
}

Status Drain::write_runs(Shipment& shipment) {
  return SideBySide::run(shipment.runs.size(), helpers_, helpers_for(shipment),
                         [&](std::size_t i) { return write_run(*shipment.home, shipment.runs[i]); });
}

// Who writes to a file while its time is set may have set it again: look once more.
bool Drain::give_time(const HomeFile& home) {
  const OwnIo own;
  const auto& written = core_.control.file(home.file()).written_ns;
  for (auto time = written.load(); time != 0;) {
    const timespec times[2] = {{0, UTIME_OMIT}, {time / 1'000'000'000, time % 1'000'000'000}};
    // Who may write a file need not be allowed to do this; then the time is that of the drain.
    if (::futimens(home.fd(), times) != 0) return false;
    const auto now = written.load();
    if (now == time) return true;
    time = now;
  }
  return false;
}

Status Drain::ship(Shipment& shipment) {
  auto status = write_runs(shipment);
  auto& record = core_.control.file(shipment.home->file());
  if (status) {
    const bool timed = (record.flags.load(std::memory_order_relaxed) & kFileTimed) != 0;
    const bool answered = timed && give_time(*shipment.home);
    // Home now carries our mark: a later open that finds another one knows that somebody else wrote.
    const auto& home = *shipment.home;
    if (const auto stamp = answered ? core_.home_stamps.just_answered(home.fd(), home.path())
                                    : stamp_of(home.fd(), home.path())) {
      auto seen = record.home_modified_ns.load();
      // A time that was set may lie before the last one.
      while ((timed ? seen != stamp->modified_ns : seen < stamp->modified_ns) &&
             !record.home_modified_ns.compare_exchange_weak(seen, stamp->modified_ns)) {
      }
      // Shipments go side by side, and this look may be older than another's: none makes home shorter.
      auto changed = record.home_changed_ns.load();
      while (timed && changed < stamp->changed_ns &&
             !record.home_changed_ns.compare_exchange_weak(changed, stamp->changed_ns)) {
      }
      auto size = record.home_size.load();
      while (size < stamp->size && !record.home_size.compare_exchange_weak(size, stamp->size)) {
      }
      // Others may have made it longer past the buffer: home looks from here on as we left it, and nobody
      // would notice. Truncations wait for the claims of this shipment.
      auto known = record.size.load();
      while (known < stamp->size && !record.size.compare_exchange_weak(known, stamp->size)) {
      }
    }
    record.error.store(0);
  } else if (status.error().code != EFBIG || own_file_size_limit() == ~std::uint64_t{0}) {
    note_error(shipment.home->file(), status.error());
  }  // else this process alone may not write so far: others' bytes, which others carry home
  FOREBAY_CRASH_POINT("ship.written");
  for (const auto& [bucket, key] : shipment.buckets) {
    settle(bucket, key, status ? ByteState::kValid : ByteState::kDirty);
  }
  if (status) core_.buckets.announce_room();
  return status;
}

void Drain::give_back(Shipment& shipment) {
  for (const auto& [bucket, key] : shipment.buckets) settle(bucket, key, ByteState::kDirty);
  shipment.buckets.clear();
}

void Drain::keep_to_rate(std::uint32_t file, std::uint64_t bytes) {
  const auto rate = core_.settings.drain.rate;
  if (rate == 0) return;
  // One time line for the whole node: each write books its share of it and waits for its turn.
  auto& line = core_.control.shared().rate_ns;
  const auto now = core_.control.nanoseconds();
  const auto cost = static_cast<std::uint64_t>(static_cast<double>(bytes) / static_cast<double>(rate) * 1e9);
  auto booked = line.load();
  std::uint64_t start = 0;
  do {
    start = std::max(booked, now);
  } while (!line.compare_exchange_weak(booked, start + cost));
  if (start <= now) return;
  const auto turn = Clock::now() + std::chrono::nanoseconds(start - now);
  core_.landings.note(file, turn);
  std::this_thread::sleep_until(turn);
}

void Drain::note_error(std::uint32_t file, const Error& error) {
  auto& record = core_.control.file(file);
  const auto before = record.error.exchange(static_cast<std::uint32_t>(error.code));
  record.error_ns.store(core_.control.nanoseconds());
  record.error_sequence.fetch_add(1);
  count(core_.counters().home_errors);
  if (before != static_cast<std::uint32_t>(error.code))
    log_warn("{} (the bytes stay in the buffer)", error.message);
}

void Drain::note_silence(std::uint32_t file) {
  auto& record = core_.control.file(file);
  std::uint32_t none = 0;
  if (record.error.compare_exchange_strong(none, ETIMEDOUT))
    record.error_ns.store(core_.control.nanoseconds());
}

Status Drain::wait_for_claim(std::uint32_t file, std::uint64_t block, HomeWait& wait) {
  const auto key = core_.files.key(file, block);
  bool waited = false;
  const auto is_free = [&]() -> Status {
    if (waited) wait.moved();
    return {};
  };
  for (;;) {
    const auto found = core_.buckets.find(key);
    if (!found) return is_free();
    auto& bucket = core_.control.bucket(*found);
    const auto claimer = bucket.claimer.load(std::memory_order_acquire);
    if (claimer == 0 || bucket.key.load() != key) return is_free();
    if (claimer != core_.peers.self() && !core_.peers.alive(claimer)) {
      FOREBAY_TRY(core_.buckets.lock(*found, key));  // puts it right
      continue;
    }
    if (wait.over()) {
      return fail(
          ETIMEDOUT,
          format_text("home has not taken block {} of {} for too long (process {} is writing it)", block,
                      core_.files.path(file), core_.control.lease(lease_slot(claimer)).pid.load()));
    }
    waited = true;
    futex_wait(bucket.claimer, claimer, kTick);
  }
}

}  // namespace forebay
