// Which blocks of a file may have unsaved bytes.
//
// A file has 512 bits; block b sets bit b mod 512. W3: a set bit may be stale, a cleared one never is, outside a change
// in progress. The writer sets the bit, publishes Dirty and looks at the bit again; whoever clears a bit looks at the
// blocks again. Either alone puts right what the other's death left.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core.hpp"

namespace forebay {

inline void note_dirty(FileRecord& file, std::uint64_t block) {
  auto& word = file.dirty_filter[block / 64 % 8];
  const auto bit = std::uint64_t{1} << (block % 64);
  if ((word.load(std::memory_order_seq_cst) & bit) == 0) word.fetch_or(bit, std::memory_order_seq_cst);
}

[[nodiscard]] bool maybe_dirty(const FileRecord& file);

struct UnsavedBlock {
  std::uint64_t block;
  std::uint32_t bytes;  // unsaved ones
  std::uint32_t since;  // tick of the first of them
};
// The blocks of [first, last] with unsaved bytes, ascending. Clears the bits of what it finds clean, if asked for all.
std::vector<UnsavedBlock> unsaved_blocks(Core& core, std::uint32_t file, std::uint64_t first, std::uint64_t last);

// Sets the bits of every bucket with unsaved bytes: after a death.
void rebuild_dirty_filters(Core& core);

}  // namespace forebay
