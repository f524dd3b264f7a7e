// When unsaved bytes are worth a write to home. Pure.
//
// Blocks are judged by windows: aligned stretches of a good write's size. A full window goes at once, so that
// a later flush finds little left. One that is not full waits for the rest while somebody adds to it: what
// goes too early goes in small pieces, and leaves small pieces behind. Because windows are aligned, neither
// do those that go leave crumbs between them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace forebay {

inline constexpr std::uint64_t kGoodWrite = 1u << 20;

// The unsaved bytes of one window.
struct Window {
  bool full = true;       // all of it is unsaved
  bool all_whole = true;  // none of its blocks is unsaved in part
  std::uint32_t oldest_ms = 0;
  std::uint32_t quiet_ms = 0;  // since the last use
};

inline constexpr std::uint32_t kNoNeed = ~0u;

struct RipenessVerdict {
  bool ripe = false;
  std::uint32_t look_again_ms = kNoNeed;  // if it is not
};

struct Ripeness {
  static constexpr std::uint32_t kMomentMs = 20;
  static constexpr std::uint32_t kMostDelays = 25;

  bool asked_only = false;        // nothing goes unless somebody waits for it
  bool at_once = true;            // full windows go as soon as they are there
  bool released = false;          // closed: nobody will add to it
  bool pressed = false;           // room is short
  std::uint32_t patience_ms = 0;  // how long nobody has to add to a window until it goes as it is

  [[nodiscard]] RipenessVerdict judge(const Window& window) const {
    if (released || pressed) return {.ripe = true};
    if (asked_only) return {};
    if (!at_once) return ripe_after(window.oldest_ms, patience_ms);
    if (window.full || window.oldest_ms >= std::uint64_t{patience_ms} * kMostDelays) return {.ripe = true};
    return ripe_after(window.quiet_ms, window.all_whole ? std::min(kMomentMs, patience_ms) : patience_ms);
  }

 private:
  static RipenessVerdict ripe_after(std::uint32_t have_ms, std::uint32_t want_ms) {
    if (have_ms >= want_ms) return {.ripe = true};
    return {.look_again_ms = want_ms - have_ms};
  }
};

}  // namespace forebay
