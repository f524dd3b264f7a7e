// When a run of neighbouring unsaved blocks is worth a write to home. Pure.
//
// Whole buckets go soon, so that a later flush finds little left; a bucket still being filled, and a run too
// short to make a good write, wait a moment for their neighbours.
#pragma once

#include <algorithm>
#include <cstdint>

namespace forebay {

struct RunOfBlocks {
  std::uint64_t bytes = 0;        // unsaved in all
  std::uint64_t whole_bytes = 0;  // in blocks that are unsaved from end to end
  std::uint32_t oldest_ms = 0;
  bool all_whole = true;
};

inline constexpr std::uint32_t kNoNeed = ~0u;

struct RipenessVerdict {
  bool anything = false;    // send something now
  bool whole_only = false;  // but only the whole blocks
  std::uint32_t look_again_ms = kNoNeed;
};

struct Ripeness {
  static constexpr std::uint64_t kGoodWrite = 1u << 20;
  static constexpr std::uint32_t kMomentMs = 20;

  bool asked_only = false;        // nothing goes unless somebody waits for it
  bool at_once = true;            // good writes go as soon as they are there
  bool released = false;          // closed: nobody will add to it
  bool pressed = false;           // room is short
  std::uint32_t patience_ms = 0;  // how long anything may wait

  [[nodiscard]] RipenessVerdict judge(const RunOfBlocks& run) const {
    if (released || pressed) return {.anything = true};
    if (asked_only) return {};
    if (run.oldest_ms >= patience_ms) return {.anything = true};
    if (!at_once) return {.look_again_ms = patience_ms - run.oldest_ms};
    if (run.whole_bytes >= kGoodWrite || (run.whole_bytes > 0 && run.oldest_ms >= kMomentMs)) {
      return {.anything = true, .whole_only = !run.all_whole};
    }
    const auto wait = run.whole_bytes > 0 ? std::min(kMomentMs, patience_ms) : patience_ms;
    return {.look_again_ms = std::max(1u, wait - std::min(wait, run.oldest_ms))};
  }
};

}  // namespace forebay
