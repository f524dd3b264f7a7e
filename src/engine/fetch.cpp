#include "engine/fetch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/format.hpp"
#include "base/prefetch.hpp"
#include "engine/crash_point.hpp"
#include "engine/dirty_filter.hpp"
#include "engine/evictor.hpp"
#include "engine/file_buckets.hpp"

namespace forebay {
namespace {

constexpr int kOptimisticTries = 8;
// Gaps nearer than this are read with one request: another one would cost more than the bytes between.
constexpr std::uint64_t kNear = 32u << 10;
// What somebody else is bringing is waited for so long at most: whoever brings it may have been stopped.
constexpr auto kArrivalPatience = std::chrono::seconds(2);

#if defined(__SANITIZE_THREAD__)
// A copy that races with a writer and is thrown away afterwards is what ThreadSanitizer must call a race.
constexpr bool kOptimistic = false;
#else
constexpr bool kOptimistic = true;
#endif

enum class Glance : std::uint8_t {
  kHit,
  kChanged,  // it has another key by now, or was being changed
  kNotHere,  // not all of it, or only under the lock
};

// A look at a bucket without its lock (X3): what was seen of it counts only if it is unchanged() afterwards.
class Sight {
 public:
  [[gnu::always_inline]] Sight(Core& core, std::uint32_t index, Key key)
      : bucket_(core.control.bucket(index)),
        version_(bucket_.version.load(std::memory_order_acquire)),
        settled_((version_ & 1) == 0 && bucket_.key.load(std::memory_order_relaxed) == key),
        place_(settled_ ? bucket_.place.load(std::memory_order_acquire) : 0),
        states_(core.buckets.view(index)) {}

  // Has it that key, and bytes, and is nobody changing it?
  [[nodiscard]] bool settled() const { return place_ != 0; }
  [[nodiscard]] std::uint32_t slot() const { return place_ - 1; }
  // A map may be given back while it is read: under the lock only.
  [[nodiscard]] bool legible() const {
    return !states_.fragmented() && (bucket_.flags.load(std::memory_order_relaxed) & kBucketDamaged) == 0;
  }
  [[nodiscard]] bool readable(std::uint32_t from, std::uint32_t to) const {
    return states_.all_readable(from, to);
  }
  [[nodiscard]] bool unchanged() const {
    std::atomic_thread_fence(std::memory_order_acquire);
    return bucket_.version.load(std::memory_order_relaxed) == version_;
  }
  [[nodiscard]] Bucket& bucket() const { return bucket_; }

 private:
  Bucket& bucket_;
  const std::uint32_t version_;
  const bool settled_;
  const std::uint32_t place_;
  const BucketView states_;
};

// One attempt to copy what is there.
[[gnu::always_inline]] inline Glance glance(Core& core, std::uint32_t index, Key key, std::uint32_t at,
                                            std::uint32_t length, std::byte* out,
                                            const FileSettings& settings, BucketMemo& memo) {
  const Sight look(core, index, key);
  if (!look.settled()) return Glance::kChanged;
  const auto* bytes = core.tiers.data(look.slot());
  if (bytes != nullptr) prefetch(bytes + at, length);
  if (!look.legible() || !look.readable(at, at + length)) return Glance::kNotHere;
  if (bytes != nullptr) {
    std::memcpy(out, bytes + at, length);
  } else if (!core.tiers.read(look.slot(), at, length, out)) {
    return Glance::kNotHere;
  }
  if (!look.unchanged()) return Glance::kChanged;
  if (memo.touch_is_due(length)) touch(core, look.bucket(), settings.eviction);
  return Glance::kHit;
}

}  // namespace

bool Fetcher::admitted(const FileSettings& settings, std::uint64_t bytes) const {
  return settings.admission_read == Admission::Always ||
         (settings.admission_read == Admission::Auto && admission_.admit(bytes));
}

void Fetcher::note_miss(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                        const Permit& permit) {
  auto& flags = core_.control.bucket(permit.bucket).flags;
  const bool again = (flags.fetch_or(kBucketReadOnce, std::memory_order_relaxed) & kBucketReadOnce) != 0;
  if (!again && settings.admission_read != Admission::Always) return;
  readers_.post(
      [this, home, settings, at = key_block(permit.key) * core_.bucket_size()] {
        const auto came = bring(*home, settings, at, core_.bucket_size());
        if (came) count(core_.counters().readahead_bytes, *came);
      },
      Crew::Urgency::kBack);
}

bool Fetcher::hit(Key key, std::uint32_t at, std::uint32_t length, std::byte* out,
                  const FileSettings& settings, BucketMemo& memo) {
  if (!kOptimistic) return false;
  for (int i = 0; i < kOptimisticTries; ++i) {
    const auto found = core_.buckets.find(key);
    if (!found) return false;
    memo.note(key_block(key), *found);
    const auto outcome = glance(core_, *found, key, at, length, out, settings, memo);
    if (outcome != Glance::kChanged) return outcome == Glance::kHit;
  }
  return false;
}

Status Fetcher::gather(const HomeFile& home, const FileSettings& settings, std::uint64_t block,
                       std::uint32_t at, std::uint32_t length, std::byte* out, std::vector<Gap>& gaps,
                       std::vector<Permit>& permits) {
  const auto key = home.key(block);
  const auto start = block * core_.bucket_size();
  FOREBAY_TRY(check_not_lost(core_, key));
  // The permit comes before home is read: what is written after it makes it void.
  if (admitted(settings, length)) permits.push_back(permit(home, settings, block));
  const auto found = core_.buckets.find(key);
  if (found) {
    FOREBAY_ASSIGN(const auto guard, core_.buckets.lock(*found, key));
    auto& bucket = core_.control.bucket(*found);
    if (guard && bucket.place.load() != 0) {
      if ((bucket.flags.load() & kBucketDamaged) != 0) {
        return fail(EIO, format_text("block {} of {} was damaged in the buffer", block, home.path()));
      }
      Status status;
      const auto place = bucket.place.load() - 1;
      core_.buckets.view(*found).for_each(
          at, at + length, [&](std::uint32_t b, std::uint32_t e, ByteState s) {
            if (!readable(s)) {
              gaps.push_back({start + b, e - b, out + (b - at)});
            } else if (const auto got = core_.tiers.read(place, b, e - b, out + (b - at)); !got) {
              core_.slots.note_failure(core_.tiers.of_slot(place).index, got.error());
              // Home has what is clean.
              if (s == ByteState::kValid) {
                gaps.push_back({start + b, e - b, out + (b - at)});
              } else if (status) {
                status = got;
              }
            }
          });
      touch(core_, bucket, settings.eviction);
      return status;
    }
  }
  gaps.push_back({start + at, length, out});
  return {};
}

Fetcher::Permit Fetcher::permit(const HomeFile& home, const FileSettings& settings, std::uint64_t block) {
  const auto key = home.key(block);
  const auto& record = core_.control.file(home.file());
  if ((record.flags.load(std::memory_order_relaxed) & kFilePast) != 0) return {};
  const auto truncations = record.truncations.load(std::memory_order_acquire);
  const auto bucket = stager_.bucket_for(key, settings);
  if (!bucket || record.intent.load() != 0 || !home.known(core_.files)) return {};
  // Version and count of one moment.
  const auto guard = core_.buckets.lock(*bucket, key);
  if (!guard || !*guard) return {};
  const auto& now = core_.control.bucket(*bucket);
  return {key, *bucket, now.version.load(), now.flags.load() >> kBucketForgetsShift, truncations};
}

bool Fetcher::holds(const Permit& permit) const {
  const auto& bucket = core_.control.bucket(permit.bucket);
  const auto& record = core_.control.file(key_file(permit.key));
  // Each one is a change of its own: fewer changes than the count can tell apart, and it has not gone round.
  constexpr auto kMostForgets = kBucketForgets >> kBucketForgetsShift;
  const auto changes = (bucket.version.load() - permit.version) / 2;
  return bucket.flags.load() >> kBucketForgetsShift == permit.forgets && changes <= kMostForgets &&
         record.intent.load() == 0 && record.truncations.load() == permit.truncations &&
         // A bucket that was linked before the flag was set is emptied by whoever set it, after this lock.
         (record.flags.load() & kFilePast) == 0;
}

void Fetcher::fill(const Permit& permit, std::uint32_t at, const std::byte* data, std::uint32_t length) {
  if (permit.key == 0 || length == 0) return;
  FOREBAY_CRASH_POINT("fill.before_lock");
  const auto guard = core_.buckets.lock(permit.bucket, permit.key);
  if (!guard || !*guard) return;
  auto& bucket = core_.control.bucket(permit.bucket);
  std::byte* bytes = core_.buckets.data(bucket);
  if (bytes == nullptr || !holds(permit)) return;
  install(permit.bucket, at, data, length);
}

void Fetcher::install(std::uint32_t index, std::uint32_t at, const std::byte* data, std::uint32_t length) {
  auto& bucket = core_.control.bucket(index);
  const auto slot = bucket.place.load(std::memory_order_relaxed) - 1;
  const auto states = core_.buckets.view(index);
  const auto weights = states.weights();
  std::uint64_t filled = 0;
  const auto for_each_gap = [&](auto&& visit) {
    states.for_each(at, at + length, [&](std::uint32_t b, std::uint32_t e, ByteState s) {
      if (s == ByteState::kInvalid) visit(b, e);
    });
  };
  const Change change(bucket);
  for_each_gap([&](std::uint32_t b, std::uint32_t e) {
    core_.tiers.copy_in(slot, b, data + (b - at), e - b, weights, PageWeights::Old::kNone);
    filled += e - b;
  });
  FOREBAY_CRASH_POINT("fill.copied");
  // Clean pieces are not worth a map.
  const auto valid = [](ByteState state) { return state == ByteState::kInvalid ? ByteState::kValid : state; };
  if (!states.rewrite(at, at + length, valid, Room::kFill)) {
    const auto* bytes = core_.buckets.data(bucket);
    for_each_gap([&](std::uint32_t b, std::uint32_t e) { weights.take_off(bytes, b, e); });
    return;
  }
  FOREBAY_CRASH_POINT("fill.valid");
  count(core_.counters().filled_bytes, filled);
}

// Reads gaps [first, last) of one neighbourhood with one request, and cuts each down to what home had.
Status Fetcher::read_neighbours(const HomeFile& home, std::span<Gap> gaps) {
  const auto start = gaps.front().offset;
  const auto span = gaps.back().offset + gaps.back().length - start;
  std::uint64_t wanted = 0;
  for (const auto& gap : gaps) wanted += gap.length;
  // Without bytes of our own in between, neighbours in the file are neighbours in the caller's memory.
  const bool direct = wanted == span;
  std::unique_ptr<std::byte[]> copy;
  if (!direct) copy = std::make_unique_for_overwrite<std::byte[]>(span);
  const auto began = core_.control.nanoseconds();
  const BusyCall busy(core_.reading_home, core_.control, core_.counters().home_read_ns);
  FOREBAY_ASSIGN(const auto got, home.read(direct ? gaps.front().out : copy.get(), span, start));
  admission_.note(span, core_.control.nanoseconds() - began);
  count(core_.counters().home_reads);
  count(core_.counters().home_read_bytes, got);
  for (auto& gap : gaps) {
    const auto begin = gap.offset - start;
    const auto have = std::min(gap.length, got - std::min(got, begin));
    if (!direct) std::memcpy(gap.out, copy.get() + begin, have);
    std::memset(gap.out + have, 0, gap.length - have);
    // What home has not (a hole, or not yet) must not be taken for its content later.
    gap.length = have;
  }
  return {};
}

Status Fetcher::read_gaps(const HomeFile& home, std::span<Gap> gaps) {
  for (std::size_t i = 0; i < gaps.size();) {
    std::size_t end = i + 1;
    while (end < gaps.size() && gaps[end].offset - (gaps[end - 1].offset + gaps[end - 1].length) < kNear)
      ++end;
    FOREBAY_TRY(read_neighbours(home, gaps.subspan(i, end - i)));
    i = end;
  }
  return {};
}

Result<std::uint64_t> Fetcher::get(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                                   std::uint64_t offset, std::span<std::byte> out, BucketMemo& memo) {
  const auto size = core_.control.file(home->file()).size.load(std::memory_order_acquire);
  if (offset >= size) return 0;
  const auto total = std::min<std::uint64_t>(out.size(), size - offset);
  const auto at = core_.place_in_block(offset);
  const auto block = core_.block_of(offset);
  // The way of nearly every small read.
  if (const auto guess = memo.guess(block);
      kOptimistic && guess && total <= core_.bucket_size() - at &&
      glance(core_, *guess, home->key(block), at, static_cast<std::uint32_t>(total), out.data(), settings,
             memo) == Glance::kHit) {
    core_.tally.add(&Counters::hit_bytes, total);
    return total;
  }
  return get_blocks(home, settings, offset, out.first(total), memo);
}

std::size_t Fetcher::get_near(const HomeFile& home, const FileSettings& settings, std::span<const Want> wants,
                              BucketMemo& memo) {
  if (!kOptimistic) return 0;
  const auto size = core_.control.file(home.file()).size.load(std::memory_order_acquire);
  const auto block = core_.block_of(wants.front().offset);
  const auto start = block * core_.bucket_size();
  const auto end = std::min(start + core_.bucket_size(), size);
  const auto key = home.key(block);
  auto found = memo.guess(block);
  if (!found || core_.control.bucket(*found).key.load(std::memory_order_relaxed) != key) {
    found = core_.buckets.find(key);
    if (!found) return 0;
    memo.note(block, *found);
  }
  const Sight look(core_, *found, key);
  if (!look.settled() || !look.legible()) return 0;
  const auto* bytes = core_.tiers.data(look.slot());
  if (bytes == nullptr) return 0;
  std::size_t count = 0;
  std::uint32_t total = 0;
  for (const auto& [offset, out] : wants) {
    if (offset < start || offset > end || out.size() > end - offset) break;
    const auto at = static_cast<std::uint32_t>(offset - start);
    const auto length = static_cast<std::uint32_t>(out.size());
    if (!look.readable(at, at + length)) break;
    std::memcpy(out.data(), bytes + at, length);
    total += length;
    ++count;
  }
  if (count == 0 || !look.unchanged()) return 0;
  if (memo.touch_is_due(total)) touch(core_, look.bucket(), settings.eviction);
  core_.tally.add(&Counters::hit_bytes, total);
  return count;
}

Result<std::uint64_t> Fetcher::get_blocks(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                                          std::uint64_t offset, std::span<std::byte> out, BucketMemo& memo) {
  const auto total = out.size();
  for (std::uint64_t done = 0; done < total;) {
    const auto at = core_.place_in_block(offset + done);
    const auto length =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(core_.bucket_size() - at, total - done));
    if (!hit(home->key(core_.block_of(offset + done)), at, length, out.data() + done, settings, memo)) {
      FOREBAY_ASSIGN(const auto missed, get_missing(home, settings, offset + done, out.subspan(done), memo));
      core_.tally.add(&Counters::hit_bytes, total - missed);
      return total;
    }
    done += length;
  }
  core_.tally.add(&Counters::hit_bytes, total);
  return total;
}

Result<std::uint64_t> Fetcher::get_missing(const std::shared_ptr<HomeFile>& home_file,
                                           const FileSettings& settings, std::uint64_t offset,
                                           std::span<std::byte> out, BucketMemo& memo) {
  const auto& home = *home_file;
  const auto total = out.size();
  const auto bucket_size = core_.bucket_size();
  std::vector<Gap> gaps;
  std::vector<Permit> permits;
  for (std::uint64_t done = 0; done < total;) {
    const auto block = core_.block_of(offset + done);
    const auto at = core_.place_in_block(offset + done);
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(bucket_size - at, total - done));
    const auto key = home.key(block);
    const auto is_hit = [&] { return hit(key, at, length, out.data() + done, settings, memo); };
    // The first block was no hit a moment ago.
    if ((done == 0 || !is_hit()) && !(arrivals_.wait(key, kArrivalPatience) && is_hit())) {
      FOREBAY_TRY(gather(home, settings, block, at, length, out.data() + done, gaps, permits));
    }
    done += length;
  }
  if (gaps.empty()) return 0;
  std::uint64_t missed = 0;
  for (const auto& gap : gaps) missed += gap.length;
  FOREBAY_TRY(read_gaps(home, gaps));
  count(core_.counters().miss_bytes, missed);
  auto next = permits.begin();
  Key noted = 0;
  for (const auto& gap : gaps) {
    const auto key = home.key(gap.offset / bucket_size);
    while (next != permits.end() && next->key != key) ++next;
    if (next == permits.end()) break;
    fill(*next, static_cast<std::uint32_t>(gap.offset % bucket_size), gap.out,
         static_cast<std::uint32_t>(gap.length));
    if (std::exchange(noted, key) != key) note_miss(home_file, settings, *next);
  }
  return missed;
}

Result<std::uint64_t> Fetcher::bring(const HomeFile& home, const FileSettings& settings, std::uint64_t offset,
                                     std::uint64_t length, Others others) {
  const auto size = core_.control.file(home.file()).size.load(std::memory_order_acquire);
  if (offset >= size) return 0;
  length = std::min(length, size - offset);
  const auto bucket_size = core_.bucket_size();
  struct Part {
    Permit permit;
    std::uint64_t block;
  };
  std::vector<Part> pieces;
  std::vector<std::uint64_t> left_to_others;
  const auto first = offset / bucket_size;
  const auto last = (offset + length - 1) / bucket_size;
  const auto there = [&](std::uint64_t block) {
    const auto in_file =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bucket_size, size - block * bucket_size));
    const auto found = core_.buckets.find(home.key(block));
    if (!found) return false;
    const auto guard = core_.buckets.lock(*found, home.key(block));
    return guard && *guard && core_.buckets.view(*found).all_readable(0, in_file);
  };
  for (auto block = first; block <= last; ++block) {
    if (there(block)) continue;
    const auto leave = permit(home, settings, block);
    if (leave.key == 0) continue;
    if (!arrivals_.begin(leave.bucket)) {
      left_to_others.push_back(block);
    } else if (there(block)) {
      arrivals_.end(leave.bucket);  // brought by others meanwhile
    } else {
      pieces.push_back({leave, block});
    }
  }
  Result<std::uint64_t> result = 0;
  for (std::size_t i = 0; i < pieces.size();) {
    std::size_t end = i + 1;
    while (end < pieces.size() && pieces[end].block == pieces[end - 1].block + 1) ++end;
    const auto start = pieces[i].block * bucket_size;
    const auto wanted = std::min<std::uint64_t>((end - i) * bucket_size, size - start);
    const auto room = std::make_unique_for_overwrite<std::byte[]>(wanted);
    const BusyCall busy(core_.reading_home, core_.control, core_.counters().home_read_ns);
    const auto got = result ? home.read(room.get(), wanted, start) : Result<std::uint64_t>(0);
    if (!got) result = std::unexpected(got.error());
    count(core_.counters().home_reads);
    count(core_.counters().home_read_bytes, got ? *got : 0);
    for (; i < end; ++i) {
      const auto begin = pieces[i].block * bucket_size - start;
      const auto have = got && *got > begin ? std::min<std::uint64_t>(*got - begin, bucket_size) : 0;
      fill(pieces[i].permit, 0, room.get() + begin, static_cast<std::uint32_t>(have));
      if (result) *result += have;
      arrivals_.end(pieces[i].permit.bucket);
    }
  }
  if (others == Others::kLeave) return result;
  for (const auto block : left_to_others) {
    arrivals_.wait(home.key(block), kArrivalPatience);
    // If it came, nothing is asked of home.
    const auto came = bring(home, settings, block * bucket_size, bucket_size);
    if (!came) return came;
    if (result) *result += *came;
  }
  return result;
}

bool Fetcher::has(const HomeFile& home, std::uint64_t offset, std::uint64_t length) const {
  const auto size = core_.control.file(home.file()).size.load(std::memory_order_acquire);
  const auto bucket_size = core_.bucket_size();
  const auto end = std::min(offset + length, size);
  for (auto start = offset - offset % bucket_size; start < end; start += bucket_size) {
    const auto key = home.key(core_.block_of(start));
    const auto found = core_.buckets.find(key);
    if (!found) return false;
    const auto& bucket = core_.control.bucket(*found);
    const auto version = bucket.version.load(std::memory_order_acquire);
    const auto states = core_.buckets.view(*found);
    const auto in_file = static_cast<std::uint32_t>(std::min<std::uint64_t>(bucket_size, size - start));
    if (states.fragmented() || !states.all_readable(0, in_file)) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (bucket.key.load(std::memory_order_relaxed) != key || (version & 1) != 0 ||
        bucket.version.load(std::memory_order_relaxed) != version) {
      return false;
    }
  }
  return true;
}

void Fetcher::pin_there(std::uint32_t file, std::uint64_t first, std::uint64_t last, bool pinned) {
  for_each_bucket_of(core_, file, first, last, [&](std::uint64_t block, std::uint32_t index) {
    const auto guard = core_.buckets.lock(index, core_.files.key(file, block));
    if (!guard || !*guard) return;
    auto& flags = core_.control.bucket(index).flags;
    pinned ? flags.fetch_or(kBucketPinned) : flags.fetch_and(~std::uint32_t{kBucketPinned});
  });
}

Status Fetcher::pin_all(const HomeFile& home, const FileSettings& settings, std::uint64_t first,
                        std::uint64_t last) {
  std::vector<std::uint64_t> pinned;
  const auto deadline = std::chrono::steady_clock::now() + core_.settings.pressure.wait;
  const auto pin = [&](std::uint64_t block) -> Status {
    // What was found or made may be evicted before it is pinned.
    for (int i = 0; i < kOptimisticTries; ++i) {
      FOREBAY_ASSIGN(const auto index, stager_.bucket_by(home.key(block), settings, deadline));
      FOREBAY_ASSIGN(const auto guard, core_.buckets.lock(index, home.key(block)));
      if (!guard) continue;
      const auto before = core_.control.bucket(index).flags.fetch_or(kBucketPinned);
      if ((before & kBucketPinned) == 0) pinned.push_back(block);
      return {};
    }
    return fail(ENOBUFS, "others take its room at once");
  };
  for (auto block = first; block <= last; ++block) {
    const auto status = pin(block);
    if (status) continue;
    for (const auto one : pinned) pin_there(home.file(), one, one, false);
    if (status.error().code != ENOBUFS) return status;
    return fail(ENOSPC, format_text("the tiers have no room for {} blocks of {} beside what cannot be "
                                    "forgotten: nothing of them is pinned",
                                    last - first + 1, home.path()));
  }
  return {};
}

}  // namespace forebay
