#include "engine/bucket_view.hpp"

#include <utility>

#include "engine/crash_point.hpp"
#include "extent/weight.hpp"

namespace forebay {
namespace {

constexpr std::uint32_t kMapBit = 2;

std::uint32_t count_of(std::uint32_t current) { return current >> 2 & 15; }

// The word that selects the other list, with the next sequence number.
std::uint32_t next_current(std::uint32_t current, bool map, unsigned count) {
  const auto other = (current & 1) ^ 1;
  const auto sequence = ((current >> 6) + 1) & 0x3ff'ffff;
  return sequence << 6 | count << 2 | (map ? kMapBit : 0) | other;
}

std::uint32_t list_check(const Bucket& bucket, std::uint32_t current, const RunList::Packed& list) {
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t h = (bucket.key.load(std::memory_order_relaxed) ^ current) * kOdd;
  for (unsigned i = 0; i < list.used(); ++i) h = (h ^ h >> 29 ^ list.words[i]) * kOdd;
  return static_cast<std::uint32_t>(h >> 32);
}

// Of a map, whose words have a sum of their own.
std::uint32_t map_check(const Bucket& bucket, std::uint32_t current) {
  return list_check(bucket, current, {.count = 1, .words = {}});
}

// What is shared may change while it is read.
std::uint32_t peek(const std::uint32_t& word) {
  return std::atomic_ref(const_cast<std::uint32_t&>(word)).load(std::memory_order_relaxed);
}

RunList::Packed packed_list(const Bucket& bucket, std::uint32_t current) {
  RunList::Packed packed;
  packed.count = count_of(current);
  const auto& words = bucket.lists[current & 1].entries;
  for (unsigned i = 0; i < packed.used(); ++i) packed.words[i] = peek(words[i]);
  return packed;
}

}  // namespace

RunList run_list(const Bucket& bucket, std::uint32_t size, std::uint32_t current) {
  const auto& words = bucket.lists[current & 1].entries;
  return RunList::unpack(count_of(current), size, [&](unsigned i) { return peek(words[i]); });
}

bool states_whole(const Bucket& bucket, std::uint32_t size, std::uint64_t map_sum) {
  const auto current = bucket.current.load(std::memory_order_acquire);
  const auto stored = peek(bucket.lists[current & 1].check);
  if ((current & kMapBit) != 0) {
    return count_of(current) == 0 && stored == map_check(bucket, current) &&
           map_sum == bucket.map_sum.load(std::memory_order_relaxed);
  }
  const auto packed = packed_list(bucket, current);
  return stored == list_check(bucket, current, packed) && RunList::unpack(packed, size).well_formed(size);
}

bool BucketView::store(const RunList& list, Room room) const {
  RunList::Packed packed;
  if (!list.pack(size_, room, packed)) return false;
  const auto current = next_current(bucket_.current.load(std::memory_order_relaxed), false, packed.count);
  auto& target = bucket_.lists[current & 1];
  for (unsigned i = 0; i < packed.used(); ++i) {
    std::atomic_ref(target.entries[i]).store(packed.words[i], std::memory_order_relaxed);
  }
  std::atomic_ref(target.check).store(list_check(bucket_, current, packed), std::memory_order_relaxed);
  FOREBAY_CRASH_POINT("states.before_current");
  bucket_.current.store(current, std::memory_order_release);
  return true;
}

bool BucketView::become_map(const RunList& list) const {
  if (!control_.reserve_map(index_)) return false;
  auto map = control_.map(index_);
  list.for_each(0, size_, size_, [&](std::uint32_t b, std::uint32_t e, ByteState s) {
    map.rewrite(b, e, [s](ByteState) { return s; });
  });
  bucket_.map_sum.store(map.sum(size_), std::memory_order_relaxed);
  FOREBAY_CRASH_POINT("states.before_map");
  const auto current = next_current(bucket_.current.load(std::memory_order_relaxed), true, 0);
  auto& target = bucket_.lists[current & 1];
  std::atomic_ref(target.check).store(map_check(bucket_, current), std::memory_order_relaxed);
  bucket_.current.store(current, std::memory_order_release);
  return true;
}

void BucketView::reset(ByteState state) const {
  const bool had_map = fragmented();
  (void)store(RunList::uniform(state), Room::kAll);
  FOREBAY_CRASH_POINT("states.before_release_map");
  if (had_map) control_.release_map(index_);
}

void BucketView::compact() const {
  if (!fragmented()) return;
  RunList list;
  bool fits = true;
  for_each(0, size_, [&](std::uint32_t b, std::uint32_t, ByteState s) { fits = fits && list.push(b, s); });
  // Room to spare, or the next write would turn it back into a map.
  if (!fits || !store(list, Room::kFill)) return;
  FOREBAY_CRASH_POINT("states.before_release_map");
  control_.release_map(index_);
}

bool BucketView::all_runs_readable(std::uint32_t from, std::uint32_t to) const {
  bool all = true;
  std::uint32_t covered = from;
  for_each(from, to, [&](std::uint32_t b, std::uint32_t e, ByteState s) {
    all = all && b == covered && readable(s);
    covered = e;
  });
  return all && covered == to;
}

bool BucketView::any(std::uint32_t from, std::uint32_t to, bool (*what)(ByteState)) const {
  bool found = false;
  for_each(from, to, [&](std::uint32_t, std::uint32_t, ByteState s) { found = found || what(s); });
  return found;
}

bool BucketView::any_unsaved() const {
  return fragmented() ? control_.map(index_).any_unsaved(size_) : any(0, size_, unsaved);
}

bool BucketView::all_unsaved() const {
  return fragmented() ? control_.map(index_).all_unsaved(size_)
                      : !any(0, size_, [](ByteState s) { return !unsaved(s); });
}

template <class Visit>
void BucketView::for_each_page_weight(const std::byte* data, std::uint32_t from, std::uint32_t to,
                                      Visit&& visit) const {
  auto page = from / PageWeights::kPage;
  std::uint64_t weight = 0;
  const auto finish_until = [&](std::uint32_t next) {
    for (; page < next; ++page) visit(page, std::exchange(weight, 0));
  };
  const auto end = (to + PageWeights::kPage - 1) / PageWeights::kPage;
  for_each(page * PageWeights::kPage, end * PageWeights::kPage,
           [&](std::uint32_t begin_of_run, std::uint32_t end_of_run, ByteState state) {
             PageWeights::for_each_page(begin_of_run, end_of_run,
                                        [&](std::uint32_t at, std::uint32_t b, std::uint32_t e) {
                                          finish_until(at);
                                          if (readable(state)) weight += weigh(data + b, b, e - b);
                                        });
           });
  finish_until(end);
}

bool BucketView::bytes_intact(const std::byte* data, std::uint32_t from, std::uint32_t to) const {
  bool same = true;
  const auto known = weights();
  for_each_page_weight(data, from, to, [&](std::uint32_t page, std::uint64_t weight) {
    same = same && known.of(page) == weight;
  });
  return same;
}

bool BucketView::states_intact() const {
  return states_whole(bucket_, size_, fragmented() ? control_.map(index_).sum(size_) : 0);
}

void BucketView::trust(const std::byte* data) const {
  if (fragmented()) bucket_.map_sum.store(control_.map(index_).sum(size_), std::memory_order_relaxed);
  if (data == nullptr) return;
  const auto known = weights();
  for_each_page_weight(data, 0, size_,
                       [&](std::uint32_t page, std::uint64_t weight) { known.set(page, weight); });
}

}  // namespace forebay
