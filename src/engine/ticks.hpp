// Ticks: milliseconds since the buffer was made, in 32 bits. After 49 days they begin again.
#pragma once

#include <cstdint>

namespace forebay {

// Never 0, which means none.
[[nodiscard]] constexpr std::uint32_t tick_of(std::uint64_t milliseconds) {
  const auto tick = static_cast<std::uint32_t>(milliseconds + 1);
  return tick == 0 ? 1 : tick;
}

// How long ago `then` was, at `now`. What seems to be to come was a moment ago, by the clock of another
// processor.
[[nodiscard]] constexpr std::uint32_t ticks_since(std::uint32_t then, std::uint32_t now) {
  constexpr std::uint32_t kAhead = 1u << 20;
  const auto since = now - then;
  return since > 0u - kAhead ? 0 : since;
}

}  // namespace forebay
