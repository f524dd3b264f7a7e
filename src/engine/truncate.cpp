#include "engine/truncate.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <vector>

#include "engine/crash_point.hpp"
#include "engine/file_buckets.hpp"
#include "extent/weight.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::pair<std::uint64_t, std::uint32_t>> buckets_from(Core& core, std::uint32_t file, std::uint64_t first) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
  // Dirty bytes end where dirty_end says; Valid ones came from below the size.
  const auto& record = core.control.file(file);
  const auto last = std::max(record.dirty_end.load(), record.size.load() / core.bucket_size() + 1);
  for_each_bucket_of(core, file, first, last, [&](std::uint64_t block, std::uint32_t index) { found.emplace_back(block, index); });
  return found;
}

// Makes bytes [from, end) of a bucket Invalid. The caller holds the lock.
Status cut(Core& core, std::uint32_t index, std::uint32_t from) {
  auto& bucket = core.control.bucket(index);
  const auto states = core.buckets.view(index);
  const std::byte* data = core.buckets.data(bucket);
  std::unique_ptr<std::byte[]> copy;
  const auto place = bucket.place.load();
  if (data == nullptr && place != 0) {
    copy = std::make_unique_for_overwrite<std::byte[]>(states.size());
    FOREBAY_TRY(core.tiers.read(place - 1, 0, states.size(), copy.get()));
    data = copy.get();
  }
  const Change change(bucket);
  std::uint64_t lost = 0;
  if (data != nullptr) {
    states.for_each(from, states.size(), [&](std::uint32_t b, std::uint32_t e, ByteState s) {
      if (readable(s)) lost += weigh(data + b, b, e - b);
    });
  }
  FOREBAY_CRASH_POINT("truncate.before_cut");
  // T1: one more run than a write may leave always fits.
  (void)states.rewrite(
      from, states.size(), [](ByteState) { return ByteState::kInvalid; }, Room::kAll);
  FOREBAY_CRASH_POINT("truncate.cut");
  bucket.weight.store(bucket.weight.load() - lost, std::memory_order_relaxed);
  states.compact();
  if (!states.any_unsaved()) bucket.dirty_since.store(0, std::memory_order_relaxed);
  return {};
}

// The steps after the intent was published. The caller holds the file's lock.
Status carry_out(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home) {
  auto& record = core.control.file(file);
  const auto intent = record.intent.load();
  if (intent == 0) return {};
  const auto size = intent - 1;
  const auto bucket_size = core.bucket_size();
  const auto deadline = Clock::now() + core.settings.limits.home_wait;
  for (const auto& [block, index] : buckets_from(core, file, size / bucket_size)) {
    const auto key = core.files.key(file, block);
    for (;;) {
      FOREBAY_TRY(drain.wait_for_claim(file, block, deadline));
      FOREBAY_ASSIGN(const auto guard, core.buckets.lock(index, key));
      if (!guard) break;
      if (core.control.bucket(index).claimer.load() != 0) continue;
      const auto start = block * bucket_size;
      FOREBAY_TRY(cut(core, index, size > start ? static_cast<std::uint32_t>(size - start) : 0));
      break;
    }
  }
  FOREBAY_CRASH_POINT("truncate.before_home");
  std::shared_ptr<HomeFile> reopened;
  if (home == nullptr || !home->writable()) {
    FOREBAY_ASSIGN(reopened, HomeFile::reopen(core.files, core.control, file));
    home = reopened.get();
  }
  int code = 0;
  while ((code = ::ftruncate(home->fd(), static_cast<off_t>(size))) != 0 && errno == EINTR) {
  }
  const int why = errno;
  if (code == 0) {
    if (const auto stamp = stamp_of(home->fd(), home->path())) {
      record.home_modified_ns.store(std::max(record.home_modified_ns.load(), stamp->modified_ns));
      record.home_size.store(stamp->size);
    }
    FOREBAY_CRASH_POINT("truncate.before_size");
    record.size.store(size);
  }
  record.truncations.fetch_add(1);
  record.intent.store(0, std::memory_order_release);
  if (code != 0) return fail_errno(why, "truncate", home->path());
  return {};
}

}  // namespace

Result<FileLock> FileLock::take(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home) {
  auto& record = core.control.file(file);
  const auto locked = core.peers.lock(record.lock);
  if (locked == Locked::kTimedOut) {
    return fail(ETIMEDOUT, core.files.path(file) + " is locked by a process that does not go on");
  }
  FileLock lock(core, file);
  if (record.intent.load() != 0) FOREBAY_TRY(carry_out(core, drain, file, home));
  return lock;
}

Status truncate_file(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home, std::uint64_t size) {
  FOREBAY_ASSIGN(const auto lock, FileLock::take(core, drain, file, home));
  auto& record = core.control.file(file);
  record.truncations.fetch_add(1);
  FOREBAY_CRASH_POINT("truncate.before_intent");
  record.intent.store(size + 1, std::memory_order_release);
  FOREBAY_CRASH_POINT("truncate.intent");
  return carry_out(core, drain, file, home);
}

Status help_truncation(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home) {
  FOREBAY_TRY(FileLock::take(core, drain, file, home));
  return {};
}

void drop_buckets(Core& core, Drain& drain, std::uint32_t file, std::uint64_t first, std::uint64_t last, Drop what) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
  for_each_bucket_of(core, file, first, last, [&](std::uint64_t block, std::uint32_t index) { found.emplace_back(block, index); });
  for (const auto& [block, index] : found) {
    const auto key = core.files.key(file, block);
    if (what != Drop::kAll && core.buckets.evict(index, key)) continue;
    if (what == Drop::kAll) (void)drain.wait_for_claim(file, block, Clock::now() + core.settings.limits.home_wait);
    const auto guard = core.buckets.lock(index, key);
    if (!guard || !*guard) continue;
    auto& bucket = core.control.bucket(index);
    const auto states = core.buckets.view(index);
    if (what == Drop::kAll) {
      core.buckets.remove(index, key);
      continue;
    }
    if (what == Drop::kCleanUnpinned && (bucket.flags.load() & kBucketPinned) != 0) continue;
    // Unsaved bytes stay; what is merely a copy of home goes.
    const auto* data = core.buckets.data(bucket);
    if (data == nullptr) continue;
    const Change change(bucket);
    std::uint64_t lost = 0;
    states.for_each(0, states.size(), [&](std::uint32_t b, std::uint32_t e, ByteState s) {
      if (s == ByteState::kValid) lost += weigh(data + b, b, e - b);
    });
    (void)states.rewrite(
        0, states.size(), [](ByteState s) { return s == ByteState::kValid ? ByteState::kInvalid : s; },
        Room::kAll);
    bucket.weight.store(bucket.weight.load() - lost, std::memory_order_relaxed);
  }
  core.buckets.announce_room();
}

}  // namespace forebay
