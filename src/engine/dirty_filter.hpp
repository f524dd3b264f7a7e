// Which blocks of a file may have unsaved bytes.
//
// A file has 8 words of 32 bits; block b belongs to bit b mod 256. W3: a set bit may be stale, a cleared one
// never is. The upper half of a word counts the buckets that became dirty. A writer raises it, with its bit,
// under the lock of a linked bucket and before it publishes Dirty. Whoever clears bits notes the word first,
// then looks at every linked bucket under its lock, and clears only if the word is still the same.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core.hpp"

namespace forebay {

inline constexpr std::uint64_t kFilterBits = 256;

// A bucket of `block` may become dirty. Comes before the look at the file's truncate intent: then either the
// truncation sees how far it must look, or the writer sees the intent.
inline void expect_dirty(FileRecord& file, std::uint64_t block) {
  auto end = file.dirty_end.load();
  while (end <= block && !file.dirty_end.compare_exchange_weak(end, block + 1)) {
  }
}

// A clean bucket of `block` is about to become dirty. The caller holds its lock.
inline void note_dirty(FileRecord& file, std::uint64_t block) {
  auto& word = file.dirty_filter[block / 32 % 8];
  auto seen = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(seen,
                                     (seen + (std::uint64_t{1} << 32)) | std::uint64_t{1} << (block % 32))) {
  }
}

[[nodiscard]] bool maybe_dirty(const FileRecord& file);

// EIO: no bucket of `key` is found, but one with unsaved bytes may have been lost to damage of the index.
Status check_not_lost(Core& core, Key key);

struct UnsavedBlock {
  std::uint64_t block;
  bool whole;           // all of its bytes are unsaved
  std::uint32_t since;  // tick of the first of them
  std::uint32_t used;   // tick of the last use of the block
};
// The blocks of [first, last] with unsaved bytes, ascending. Clears the bits of what it finds clean, if asked
// for all.
std::vector<UnsavedBlock> unsaved_blocks(Core& core, std::uint32_t file, std::uint64_t first,
                                         std::uint64_t last);

// Sets the bits of every bucket with unsaved bytes: after a death.
void rebuild_dirty_filters(Core& core);

}  // namespace forebay
