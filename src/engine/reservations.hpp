// Room in the mapped tiers that files claim for themselves, as long as somebody has them open.
//
// A soft claim keeps what a file has there from being evicted for others. A hard one also keeps free what the
// file has not filled yet: others are given nothing of it, and it is refused where others have claimed the
// rest. Thread-safe: claims change while the file table is held.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/core.hpp"

namespace forebay {

// Of the mapped tiers, as large as they can get, what other files have not reserved.
[[nodiscard]] std::uint64_t unreserved(Core& core, std::uint32_t file);

// What becomes of an earlier claim of the file: somebody else may have it open and count on it.
enum class Before : std::uint8_t { kKept, kReplaced };
// ENOSPC: a hard claim of so much cannot be had; then nothing has changed. A soft one gets what there is.
Status reserve(Core& core, std::uint32_t file, std::uint64_t size, ReserveKind kind, Before before);

// Nobody has it open any more. The caller holds the file table.
void end_reservation(const Core& core, std::uint32_t file);
// After deaths. The caller holds the file table.
void recount_hard_claims(const Control& control);

// Is what is still free claimed by others, so that the file must not take of it?
[[nodiscard]] bool room_is_claimed(Core& core, std::uint32_t file);

}  // namespace forebay
