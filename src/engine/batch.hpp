// Writes that take effect as one: what is written down before it is carried out.
//
// A batch lies in a file of the buffer's directory, one for each file, and is nothing until the file's record
// says so by one store (docs/protocol.md, "batch"). The functions here read and write that file; the caller
// holds the lock of the file that the batch is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "engine/core.hpp"

namespace forebay {

struct Batch {
  struct Piece {
    std::uint64_t offset;
    std::span<const std::byte> data;
  };
  std::vector<Piece> pieces{};          // in the order in which they are written
  std::optional<std::uint64_t> size{};  // of the file, afterwards
};

// A batch that was found, with the memory that its pieces lie in.
struct FoundBatch {
  std::vector<std::byte> bytes{};
  Batch batch{};
};

// What `FileRecord::batch` must be for the batch to count; never 0.
Result<std::uint32_t> write_down(const Core& core, std::uint32_t file, const Batch& batch);
// EBADMSG: what lies there is not the batch that `committed` stands for.
Result<FoundBatch> find_batch(const Core& core, std::uint32_t file, std::uint32_t committed);
void discard_batch(const Core& core, std::uint32_t file);
// Of every file, when the buffer is removed.
void discard_all_batches(const Fd& directory);

}  // namespace forebay
