// Asking the processor for memory ahead of use.
#pragma once

#include <algorithm>
#include <cstddef>

namespace forebay {

// The first lines of [start, start + length), in parallel: by the time they are through, the processor has
// noticed by itself where this goes.
inline void prefetch(const std::byte* start, std::size_t length) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kLines = 16;
  for (std::size_t at = 0; at < std::min(length, kLines * kLine); at += kLine) __builtin_prefetch(start + at);
}

}  // namespace forebay
