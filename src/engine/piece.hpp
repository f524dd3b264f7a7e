// Bytes for a place in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

struct Piece {
  std::uint64_t offset;
  std::span<const std::byte> data;
};

}  // namespace forebay
