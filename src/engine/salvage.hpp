// Reading unsaved bytes out of the buffer, for when they cannot go home.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/error.hpp"
#include "engine/core.hpp"

namespace forebay {

enum class Soundness {
  kWhole,       // what was staged
  kDamaged,     // changed since, by nobody who should have
  kUnreadable,  // which bytes are unsaved is not known either, or they cannot be read: no bytes come with it
};

// `offset` is that in the file. For kUnreadable it is the block's, and `bytes` is empty.
using SalvageVisit = std::function<Status(std::uint64_t offset, std::span<const std::byte> bytes, Soundness)>;

// Calls `visit` for every run of unsaved bytes of a file, ascending, in pieces of at most a bucket. Stops at
// the first failure of `visit`. Nothing is changed.
Status salvage(Core& core, std::uint32_t file, const SalvageVisit& visit);

// Gives the file's bytes in the buffer up, unsaved and damaged ones too, and forgets the file. EBUSY:
// somebody living has it open.
Status abandon(Core& core, std::uint32_t file);

}  // namespace forebay
