#include "engine/dirty_filter.hpp"

#include <algorithm>
#include <bit>

namespace forebay {
namespace {

// Under the lock: a map may be given back at any moment otherwise. A bucket that cannot be locked counts as unsaved.
UnsavedBlock examine(Core& core, std::uint32_t index, Key key) {
  const auto& bucket = core.control.bucket(index);
  UnsavedBlock result{key_block(key), 0, bucket.dirty_since.load(std::memory_order_relaxed)};
  const auto guard = core.buckets.lock(index, key);
  if (!guard) {
    result.bytes = 1;
  } else if (*guard) {
    core.buckets.view(index).for_each(0, core.bucket_size(), [&](std::uint32_t b, std::uint32_t e, ByteState s) {
      if (unsaved(s)) result.bytes += e - b;
    });
  }
  return result;
}

bool has_unsaved(Core& core, std::uint32_t index, Key key) { return examine(core, index, key).bytes != 0; }

std::uint64_t filter_word(const FileRecord& record, std::uint64_t i) { return record.dirty_filter[i].load(std::memory_order_seq_cst); }

bool bit_set(const FileRecord& record, std::uint64_t block) {
  return (filter_word(record, block / 64 % 8) >> (block % 64) & 1) != 0;
}

// Calls visit(block, bucket) for the linked buckets of the file whose filter bit is set, whichever way is shorter.
template <class Visit>
void for_each_suspect(Core& core, std::uint32_t file, std::uint64_t first, std::uint64_t last, Visit&& visit) {
  const auto& record = core.control.file(file);
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < 8; ++i) bits += static_cast<std::uint64_t>(std::popcount(filter_word(record, i)));
  const auto rounds = (last - first) / 512 + 1;
  if (bits * rounds < core.control.header().bucket_count) {
    for (std::uint64_t bit = 0; bit < 512; ++bit) {
      if (!bit_set(record, bit)) continue;
      for (auto block = first + (bit - first % 512 + 512) % 512; block <= last; block += 512) {
        if (const auto found = core.buckets.find(core.files.key(file, block))) visit(block, *found);
      }
    }
    return;
  }
  const auto base = core.files.key(file, 0);
  for (std::uint32_t i = 0; i < core.control.header().bucket_count; ++i) {
    const auto key = core.control.bucket(i).key.load(std::memory_order_acquire);
    if ((key & ~kMaxBlock) != base) continue;
    const auto block = key_block(key);
    if (block >= first && block <= last && bit_set(record, block)) visit(block, i);
  }
}

}  // namespace

bool maybe_dirty(const FileRecord& file) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    if (filter_word(file, i) != 0) return true;
  }
  return false;
}

std::vector<UnsavedBlock> unsaved_blocks(Core& core, std::uint32_t file, std::uint64_t first, std::uint64_t last) {
  auto& record = core.control.file(file);
  std::vector<UnsavedBlock> blocks;
  const bool whole = first == 0 && last == kMaxBlock;
  // W2: what lies beyond the size is a change in progress; its writer looks at the filter again.
  last = std::min(last, record.size.load(std::memory_order_acquire) / core.bucket_size());
  if (!maybe_dirty(record) || first > last) return blocks;
  std::array<std::uint64_t, 8> seen{};
  for (std::uint64_t i = 0; i < 8; ++i) seen[i] = filter_word(record, i);
  std::array<std::uint64_t, 8> still{};
  std::vector<std::pair<std::uint64_t, std::uint32_t>> clean;
  const auto key = [&](std::uint64_t block) { return core.files.key(file, block); };
  for_each_suspect(core, file, first, last, [&](std::uint64_t block, std::uint32_t bucket) {
    if (const auto found = examine(core, bucket, key(block)); found.bytes != 0) {
      blocks.push_back(found);
      still[block / 64 % 8] |= std::uint64_t{1} << (block % 64);
    } else {
      clean.emplace_back(block, bucket);
    }
  });
  std::ranges::sort(blocks, {}, &UnsavedBlock::block);
  if (whole) {
    for (std::uint64_t i = 0; i < 8; ++i) record.dirty_filter[i].fetch_and(~(seen[i] & ~still[i]));
    for (const auto& [block, bucket] : clean) {
      if (has_unsaved(core, bucket, key(block))) note_dirty(record, block);
    }
  }
  return blocks;
}

void rebuild_dirty_filters(Core& core) {
  for (std::uint32_t i = 0; i < core.control.header().bucket_count; ++i) {
    const auto key = core.control.bucket(i).key.load(std::memory_order_acquire);
    if (key == 0 || key_file(key) >= core.control.header().file_count) continue;
    if (has_unsaved(core, i, key)) note_dirty(core.control.file(key_file(key)), key_block(key));
  }
}

}  // namespace forebay
