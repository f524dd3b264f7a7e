#include "engine/dirty_filter.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>

#include "base/format.hpp"

namespace forebay {
namespace {

// Was it clean at some moment, without asking for its lock? Whoever made it dirty after that has raised the
// count of its filter word.
bool seen_clean(Core& core, std::uint32_t index, Key key) {
  const auto& bucket = core.control.bucket(index);
  const auto version = bucket.version.load(std::memory_order_acquire);
  const bool clean = (version & 1) == 0 && bucket.key.load(std::memory_order_relaxed) == key &&
                     bucket.dirty_since.load(std::memory_order_relaxed) == 0 &&
                     core.buckets.view(index).plainly_saved();
  std::atomic_thread_fence(std::memory_order_acquire);
  return clean && bucket.version.load(std::memory_order_relaxed) == version;
}

// Nothing if none of its bytes is unsaved. Under the lock: a map may be given back at any moment otherwise. A
// bucket that cannot be locked counts as unsaved.
std::optional<UnsavedBlock> examine(Core& core, std::uint32_t index, Key key) {
  if (seen_clean(core, index, key)) return std::nullopt;
  const auto& bucket = core.control.bucket(index);
  UnsavedBlock result{key_block(key), false, bucket.dirty_since.load(std::memory_order_relaxed),
                      bucket.used.load(std::memory_order_relaxed)};
  const auto guard = core.buckets.lock(index, key);
  if (!guard) return result;
  const auto states = core.buckets.view(index);
  if (!*guard || !states.any_unsaved()) return std::nullopt;
  result.whole = states.all_unsaved();
  return result;
}

using Filter = std::array<std::uint64_t, 8>;

Filter load_filter(const FileRecord& record) {
  Filter filter{};
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = record.dirty_filter[i].load();
  return filter;
}

bool bit_set(const Filter& filter, std::uint64_t block) {
  return (filter[block / 32 % 8] >> (block % 32) & 1) != 0;
}

std::uint64_t count_bits(const Filter& filter) {
  std::uint64_t bits = 0;
  for (const auto word : filter)
    bits += static_cast<std::uint64_t>(std::popcount(static_cast<std::uint32_t>(word)));
  return bits;
}

// Calls visit(block, bucket) for the linked buckets of the file whose bit is set, whichever way is shorter,
// and lost(block) for those that damage may have taken from the index.
template <class Visit, class Lost>
void for_each_suspect(Core& core, std::uint32_t file, const Filter& filter, std::uint64_t first,
                      std::uint64_t last, Visit&& visit, Lost&& lost) {
  const auto rounds = (last - first) / kFilterBits + 1;
  if (count_bits(filter) * rounds < core.control.buckets_ready()) {
    for (std::uint64_t bit = 0; bit < kFilterBits; ++bit) {
      if (!bit_set(filter, bit)) continue;
      const auto start = first + (bit - first % kFilterBits + kFilterBits) % kFilterBits;
      for (auto block = start; block <= last; block += kFilterBits) {
        const auto key = core.files.key(file, block);
        if (const auto found = core.buckets.find(key)) {
          visit(block, *found);
        } else if (core.buckets.lost(key)) {
          lost(block);
        }
      }
    }
    return;
  }
  const auto base = core.files.key(file, 0);
  for (std::uint32_t i = 0, count = core.control.buckets_ready(); i < count; ++i) {
    const auto key = core.control.bucket(i).key.load(std::memory_order_acquire);
    if ((key & ~kMaxBlock) != base) continue;
    const auto block = key_block(key);
    if (block >= first && block <= last && bit_set(filter, block)) visit(block, i);
  }
}

}  // namespace

Status check_not_lost(Core& core, Key key) {
  const auto block = key_block(key);
  if (!bit_set(load_filter(core.control.file(key_file(key))), block)) return {};
  if (core.buckets.find(key) || !core.buckets.lost(key)) return {};
  return fail(EIO, format_text("the buffer's index was damaged: block {} of {} cannot be found", block,
                               core.files.path(key_file(key))));
}

bool maybe_dirty(const FileRecord& file) { return count_bits(load_filter(file)) != 0; }

std::vector<UnsavedBlock> unsaved_blocks(Core& core, std::uint32_t file, std::uint64_t first,
                                         std::uint64_t last) {
  auto& record = core.control.file(file);
  std::vector<UnsavedBlock> blocks;
  const bool whole = first == 0 && last == kMaxBlock;
  const auto seen = load_filter(record);
  const auto end = record.dirty_end.load(std::memory_order_acquire);
  if (count_bits(seen) == 0 || first >= end) return blocks;
  last = std::min(last, end - 1);
  Filter still{};
  const auto keep = [&](const UnsavedBlock& found) {
    blocks.push_back(found);
    still[found.block / 32 % 8] |= std::uint64_t{1} << (found.block % 32);
  };
  for_each_suspect(
      core, file, seen, first, last,
      [&](std::uint64_t block, std::uint32_t bucket) {
        if (const auto found = examine(core, bucket, core.files.key(file, block))) keep(*found);
      },
      // Whoever wants to carry it home is told.
      [&](std::uint64_t block) { keep({block, false, core.control.tick(), core.control.tick()}); });
  std::ranges::sort(blocks, {}, &UnsavedBlock::block);
  for (std::size_t i = 0; whole && i < seen.size(); ++i) {
    auto expected = seen[i];
    record.dirty_filter[i].compare_exchange_strong(expected, (seen[i] >> 32 << 32) | still[i]);
  }
  return blocks;
}

void rebuild_dirty_filters(Core& core) {
  for (std::uint32_t i = 0, count = core.control.buckets_ready(); i < count; ++i) {
    const auto key = core.control.bucket(i).key.load(std::memory_order_acquire);
    if (key == 0 || key_file(key) >= core.control.header().file_count) continue;
    if (examine(core, i, key)) note_dirty(core.control.file(key_file(key)), key_block(key));
  }
}

}  // namespace forebay
