// Writes that take effect as one: what is written down before it is carried out.
//
// A batch lies in a file of the buffer's directory and is nothing until the record of the file that it is for
// says so by one store (docs/protocol.md, "batch"). There are two such places for each file, so that the next
// batch can be written down while one stands. The caller holds the lock of the file that the batch is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "engine/core.hpp"
#include "engine/piece.hpp"

namespace forebay {

struct Batch {
  std::vector<Piece> pieces{};          // in the order in which they are written
  std::optional<std::uint64_t> size{};  // of the file, afterwards
  // A will: carried out when the process is found dead, until its next batch for the file takes its place.
  // Not where the file says something else than `before` by then.
  struct Will {
    std::uint64_t offset;
    std::span<const std::byte> before, after;
  };
  std::vector<Will> wills{};
};

// A batch that was found, with the memory that its pieces lie in.
struct FoundBatch {
  std::vector<std::byte> bytes{};
  Batch batch{};
};

// What a record says of a batch: a part of its check, and these.
enum BatchWord : std::uint32_t {
  kBatchSet = 1,
  kBatchStaged = 2,  // all but the will
  kBatchPlace = 4,   // which of the two places it lies in
  kBatchCheck = ~std::uint32_t{7},
};

// Writes the batch where `standing` does not lie. Returns the word that commits it, without kBatchStaged.
Result<std::uint32_t> write_down(const Core& core, std::uint32_t file, const Batch& batch,
                                 std::uint32_t standing);
// EBADMSG: what lies there is not the batch that `committed` stands for.
Result<FoundBatch> find_batch(const Core& core, std::uint32_t file, std::uint32_t committed);
void discard_batch(const Core& core, std::uint32_t file, std::uint32_t word);
// Of every file, when the buffer is removed.
void discard_all_batches(const Fd& directory);

}  // namespace forebay
