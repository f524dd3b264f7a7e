// A checksum of bytes by their place in a bucket, chosen to be nearly free beside the copy.
//
// The bytes form little-endian words of 64 bits at their places. The weight of the word w at place p is
//   m(p) * (low half of w + K * high half of w)  modulo 2^64,
// with a multiplier m(p) of 32 bits that no other place has; the weight of a set of bytes is the sum. It is
// linear: the weight of a bucket after a write is the old one, less the weight of the bytes overwritten, plus
// that of the new ones. It finds any changed word, any two flipped bits of the same half, and words that were
// zeroed, moved or exchanged; it is no defence against intent.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

// The weight of `length` bytes that lie at `offset` of a bucket.
std::uint64_t weigh(const std::byte* data, std::uint32_t offset, std::uint32_t length);

// Copies and returns the weight of what was copied. `offset` is the place of `to` in its bucket.
std::uint64_t copy_and_weigh(std::byte* to, const std::byte* from, std::uint32_t offset,
                             std::uint32_t length);

// The same around the cache: no read for ownership, and the reader to come is the drain. `to` lies on a
// multiple of kStreamAlignment, and so does its place. Such stores are ordered with no others:
// fence_streaming() before and after them is the caller's.
inline constexpr std::uint32_t kStreamAlignment = 64;
std::uint64_t stream_and_weigh(std::byte* to, const std::byte* from, std::uint32_t offset,
                               std::uint32_t length);
void fence_streaming();

// By how much the weight of the bucket grew: what was copied less what was overwritten.
std::uint64_t replace_and_weigh(std::byte* to, const std::byte* from, std::uint32_t offset,
                                std::uint32_t length);

// How whole blocks are weighed: all ways give the same. The best that the processor has is chosen by itself.
enum class WeightKernel : std::uint8_t { kWords, kVectors, kWideVectors };
// For tests. False: the processor does not have it.
bool choose_weight_kernel(WeightKernel kernel);

}  // namespace forebay
