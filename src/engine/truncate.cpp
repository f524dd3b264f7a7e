#include "engine/truncate.hpp"

#include <unistd.h>

#include <xxhash.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/log.hpp"
#include "engine/crash_point.hpp"
#include "engine/file_buckets.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;

using Found = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

Found buckets_from(Core& core, std::uint32_t file, std::uint64_t first) {
  Found found;
  // Dirty bytes end where dirty_end says; Valid ones came from below the size.
  const auto& record = core.control.file(file);
  const auto last = std::max(record.dirty_end.load(), record.size.load() / core.bucket_size() + 1);
  for_each_bucket_of(core, file, first, last,
                     [&](std::uint64_t block, std::uint32_t index) { found.emplace_back(block, index); });
  return found;
}

// What an intent must be accompanied by. A damaged control file must not make anybody cut a file at home.
std::uint64_t check_of(const FileRecord& record, std::uint64_t intent) {
  const std::uint64_t parts[] = {intent, record.device, record.inode, record.born_ns,
                                 record.generation.load()};
  return XXH3_64bits(parts, sizeof parts);
}

// The bytes of a bucket that is not mapped; none if the tier cannot give them.
std::unique_ptr<std::byte[]> read_whole(Core& core, const Bucket& bucket) {
  const auto place = bucket.place.load();
  auto copy = std::make_unique_for_overwrite<std::byte[]>(core.bucket_size());
  if (place == 0 || !core.tiers.read(place - 1, 0, core.bucket_size(), copy.get())) return nullptr;
  return copy;
}

// Of the bytes from `from` on, those in a state that `goes` do not count any more.
void take_off(const BucketView& states, const std::byte* data, std::uint32_t from, bool (*goes)(ByteState)) {
  const auto weights = states.weights();
  states.for_each(from, states.size(), [&](std::uint32_t b, std::uint32_t e, ByteState s) {
    if (goes(s)) weights.take_off(data, b, e);
  });
}

// Makes bytes [from, end) of a bucket Invalid. The caller holds the lock.
void cut(Core& core, std::uint32_t index, std::uint32_t from) {
  auto& bucket = core.control.bucket(index);
  const auto states = core.buckets.view(index);
  const std::byte* data = core.buckets.data(bucket);
  std::unique_ptr<std::byte[]> copy;
  if (data == nullptr && from != 0) {
    copy = read_whole(core, bucket);
    data = copy.get();
    // What the tier cannot give cannot be weighed, and nobody can read the rest of it either.
    if (data == nullptr && bucket.place.load() != 0) bucket.flags.fetch_or(kBucketDamaged);
  }
  const Change change(bucket);
  if (from == 0) {
    if (const auto place = bucket.place.load(); place != 0 && core.tiers.reserved(place - 1))
      states.reset_weights();
  } else if (data != nullptr) {
    take_off(states, data, from, readable);
  }
  FOREBAY_CRASH_POINT("truncate.before_cut");
  note_forgetting(bucket);
  // T1: one more run than a write may leave always fits.
  (void)states.rewrite(from, states.size(), [](ByteState) { return ByteState::kInvalid; }, Room::kAll);
  FOREBAY_CRASH_POINT("truncate.cut");
  states.compact();
  if (!states.any_unsaved()) bucket.dirty_since.store(0, std::memory_order_relaxed);
}

// Returns when nobody writes one of the buckets home. Nobody begins to while the intent stands.
Status wait_out_claims(Core& core, Drain& drain, std::uint32_t file, const Found& buckets) {
  HomeWait wait(core, file);
  for (const auto& [block, index] : buckets) {
    for (;;) {
      FOREBAY_TRY(drain.wait_for_claim(file, block, wait));
      FOREBAY_ASSIGN(const auto guard, core.buckets.lock(index, core.files.key(file, block)));
      if (!guard || core.control.bucket(index).claimer.load() == 0) break;
    }
  }
  return {};
}

// Up to here nothing has changed but the intent.
Status cut_home(Core& core, Drain& drain, std::uint32_t file, const Found& buckets, const HomeFile* home,
                std::uint64_t size) {
  FOREBAY_TRY(wait_out_claims(core, drain, file, buckets));
  FOREBAY_CRASH_POINT("truncate.before_home");
  std::shared_ptr<HomeFile> reopened;
  if (home == nullptr || !home->writable()) {
    FOREBAY_ASSIGN(reopened, HomeFile::reopen(core, file));
    home = reopened.get();
  }
  const OwnIo own;
  while (::ftruncate(home->fd(), static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return fail_errno(errno, "truncate", home->path());
  }
  auto& record = core.control.file(file);
  if (const auto stamp = stamp_of(home->fd(), home->path())) {
    record.home_modified_ns.store(std::max(record.home_modified_ns.load(), stamp->modified_ns));
    record.home_size.store(stamp->size);
  }
  return {};
}

void end_truncation(FileRecord& record) {
  record.truncations.fetch_add(1);
  record.intent.store(0, std::memory_order_release);
}

enum class Begun { kHere, kByAnother };

// The steps after the intent was published. The caller holds the file's lock. Home comes first: what it
// refuses has then changed nothing. But for one that another process began and did not end, home may be cut
// already: it stands until somebody succeeds.
Status carry_out(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home, Begun begun) {
  auto& record = core.control.file(file);
  const auto intent = record.intent.load();
  if (intent == 0) return {};
  if (record.intent_check.load() != check_of(record, intent)) {
    log_error("a truncation of {} was damaged in the buffer and is not carried out", core.files.path(file));
    end_truncation(record);
    return {};
  }
  const auto size = intent - 1;
  const auto bucket_size = core.bucket_size();
  const auto buckets = buckets_from(core, file, size / bucket_size);
  if (const auto status = cut_home(core, drain, file, buckets, home, size); !status) {
    if (begun == Begun::kHere) end_truncation(record);
    return status;
  }
  FOREBAY_CRASH_POINT("truncate.home");
  for (const auto& [block, index] : buckets) {
    FOREBAY_ASSIGN(const auto guard, core.buckets.lock(index, core.files.key(file, block)));
    if (!guard) continue;
    const auto start = block * bucket_size;
    const auto from = size > start ? static_cast<std::uint32_t>(size - start) : 0;
    cut(core, index, from);
    // Of one that has nothing left, not even its place stays: in a tier that is not mapped it would be
    // brought up before it is written again.
    const auto& bucket = core.control.bucket(index);
    if (from == 0 && bucket.claimer.load() == 0 && (bucket.flags.load() & kBucketPinned) == 0)
      core.buckets.remove(index, core.files.key(file, block));
  }
  core.buckets.announce_room();
  FOREBAY_CRASH_POINT("truncate.before_size");
  record.size.store(size);
  end_truncation(record);
  return {};
}

// Its owner may have to wait for home, and for room while it appends: limits.lock_wait is not for that.
Status lock_patiently(Core& core, std::uint32_t file) {
  auto& record = core.control.file(file);
  HomeWait wait(core, file);
  for (auto size = record.size.load(); core.peers.lock(record.lock) == Locked::kTimedOut;) {
    if (const auto now = record.size.load(); std::exchange(size, now) != now) wait.moved();
    if (!wait.over()) continue;
    const auto owner = core.control.lease(lease_slot(record.lock.load())).pid.load();
    return fail(ETIMEDOUT, format_text("{} is locked by process {}, which does not go on",
                                       core.files.path(file), owner));
  }
  return {};
}

}  // namespace

Status wait_out_claims(Core& core, Drain& drain, std::uint32_t file) {
  return wait_out_claims(core, drain, file, buckets_from(core, file, 0));
}

Result<FileLock> FileLock::take(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home) {
  auto& record = core.control.file(file);
  if (core.peers.lock(record.lock) == Locked::kTimedOut) FOREBAY_TRY(lock_patiently(core, file));
  FileLock lock(core, file);
  if (record.intent.load() != 0) FOREBAY_TRY(carry_out(core, drain, file, home, Begun::kByAnother));
  return lock;
}

Status truncate_file(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home, std::uint64_t size) {
  FOREBAY_ASSIGN(const auto lock, FileLock::take(core, drain, file, home));
  return truncate_locked(core, drain, lock, file, home, size);
}

Status truncate_locked(Core& core, Drain& drain, const FileLock& /*held*/, std::uint32_t file,
                       const HomeFile* home, std::uint64_t size) {
  auto& record = core.control.file(file);
  record.truncations.fetch_add(1);
  record.intent_check.store(check_of(record, size + 1), std::memory_order_relaxed);
  FOREBAY_CRASH_POINT("truncate.before_intent");
  // Sequentially consistent: who links a bucket after this sees it, and what was linked before is found
  // below.
  record.intent.store(size + 1);
  FOREBAY_CRASH_POINT("truncate.intent");
  return carry_out(core, drain, file, home, Begun::kHere);
}

Status help_truncation(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home) {
  FOREBAY_TRY(FileLock::take(core, drain, file, home));
  return {};
}

void drop_buckets(Core& core, std::uint32_t file, std::uint64_t first, std::uint64_t last, Drop what) {
  Found found;
  for_each_bucket_of(core, file, first, last,
                     [&](std::uint64_t block, std::uint32_t index) { found.emplace_back(block, index); });
  for (const auto& [block, index] : found) {
    const auto key = core.files.key(file, block);
    if (what != Drop::kAll && core.buckets.evict(index, key)) continue;
    const auto guard = core.buckets.lock(index, key);
    if (!guard || !*guard) continue;
    auto& bucket = core.control.bucket(index);
    const auto states = core.buckets.view(index);
    if (what == Drop::kAll) {
      // D2: who is still writing it home does so from this very memory.
      if (bucket.claimer.load() == 0) core.buckets.remove(index, key);
      continue;
    }
    if (what == Drop::kCleanUnpinned && (bucket.flags.load() & kBucketPinned) != 0) continue;
    // Unsaved bytes stay; what is merely a copy of home goes.
    const std::byte* data = core.buckets.data(bucket);
    std::unique_ptr<std::byte[]> copy;
    if (data == nullptr) {
      copy = read_whole(core, bucket);
      data = copy.get();
    }
    if (data == nullptr) continue;
    const Change change(bucket);
    take_off(states, data, 0, [](ByteState s) { return s == ByteState::kValid; });
    // Also where nothing is Valid: somebody may be bringing what home no longer has.
    note_forgetting(bucket);
    (void)states.rewrite(
        0, states.size(), [](ByteState s) { return s == ByteState::kValid ? ByteState::kInvalid : s; },
        Room::kAll);
  }
  core.buckets.announce_room();
}

Status give_up(Core& core, Drain& drain, std::uint32_t file, Key key, const std::function<void()>& then) {
  const auto& record = core.control.file(file);
  const auto deadline = Clock::now() + core.settings.limits.home_wait;
  for (;;) {
    // Not with the table's lock, which others want.
    (void)wait_out_claims(core, drain, file);
    FOREBAY_CRASH_POINT("give_up.waited");
    auto status = core.files.forget(file, key, [&] {
      const auto last = std::max(record.dirty_end.load(), record.size.load() / core.bucket_size() + 1);
      drop_buckets(core, file, 0, last, Drop::kAll);
      if (then) then();
    });
    if (status || status.error().code != EBUSY || core.files.in_use(file)) return status;
    if (Clock::now() >= deadline) return {};
  }
}

void drop_if_closed(Core& core, std::uint32_t file) {
  const auto& record = core.control.file(file);
  if ((record.flags.load() & kFileDrops) == 0 || record.buckets.load() == 0 || core.files.in_use(file))
    return;
  drop_buckets(core, file, 0, kMaxBlock, Drop::kClean);
}

}  // namespace forebay
