// What the engine knows of each byte of a bucket.
#pragma once

#include <cstdint>

namespace forebay {

enum class ByteState : std::uint8_t {
  kInvalid = 0,  // unknown: home has it
  kValid = 1,    // equal to home: may be forgotten at any time
  kDirty = 2,    // newer than home
  kClaimed = 3,  // newer than home, on its way there, unchanged since the claim
};

[[nodiscard]] constexpr bool readable(ByteState s) { return s != ByteState::kInvalid; }
[[nodiscard]] constexpr bool unsaved(ByteState s) {
  return s == ByteState::kDirty || s == ByteState::kClaimed;
}

}  // namespace forebay
