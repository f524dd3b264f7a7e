// Bytes for a place in a file, and room for the bytes of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

struct Piece {
  std::uint64_t offset;
  std::span<const std::byte> data;
};

struct Want {
  std::uint64_t offset;
  std::span<std::byte> out;
};

}  // namespace forebay
