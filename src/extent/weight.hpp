// A checksum of bytes by their place in a bucket, chosen to be nearly free beside the copy.
//
// The weight of a set of bytes is the sum of the little-endian 64-bit words they form at their places, each
// page of 4 KiB multiplied by its own odd number, modulo 2^64. It is linear: the weight of a bucket after a
// write is the old one, less the weight of the bytes overwritten, plus that of the new ones. It finds any
// single changed word, zeroed or exchanged pages; it is no defence against intent.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

// The weight of `length` bytes that lie at `offset` of a bucket.
std::uint64_t weigh(const std::byte* data, std::uint32_t offset, std::uint32_t length);

// Copies and returns the weight of what was copied. `offset` is the place of `to` in its bucket.
std::uint64_t copy_and_weigh(std::byte* to, const std::byte* from, std::uint32_t offset,
                             std::uint32_t length);

}  // namespace forebay
