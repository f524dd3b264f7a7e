// What every store asks of its sizes, in the same words.
#pragma once

#include <bit>
#include <cerrno>
#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace forebay {

inline constexpr std::uint64_t kBucketSizeLeast = 4096;
inline constexpr std::uint64_t kBucketSizeMost = std::uint64_t{16} << 20;

inline Status check_store_shape(const std::string& name, std::uint64_t bucket_size, std::uint64_t slots) {
  if (!std::has_single_bit(bucket_size) || bucket_size < kBucketSizeLeast || bucket_size > kBucketSizeMost) {
    return fail(EINVAL, "bucket size " + std::to_string(bucket_size) + " of " + name +
                            " is not a power of two from 4 KiB to 16 MiB");
  }
  if (slots == 0 || slots > (std::uint64_t{1} << 62) / bucket_size) {
    return fail(EINVAL, std::to_string(slots) + " is not a possible number of buckets for " + name);
  }
  return {};
}

inline Status check_slot_range(const std::string& name, std::uint64_t from, std::uint64_t to,
                               std::uint64_t slots) {
  if (from <= to && to <= slots) return {};
  return fail(EINVAL, name + " has " + std::to_string(slots) + " buckets, not " + std::to_string(from) +
                          " to " + std::to_string(to));
}

}  // namespace forebay
