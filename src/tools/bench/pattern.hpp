// The data of the suite: every element is a pure function of (seed, dataset, timestep, index), so that
// whatever is read, by whom and whenever, can be checked without anything being kept.
//
// No element is zero, so that what was never written differs from what was; 32- and 64-bit elements are also
// good as floating point numbers in [1, 2), so that no conversion changes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace forebay::kernels {

constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// One dataset at one timestep.
class Source {
 public:
  Source(std::uint64_t seed, std::string_view dataset, std::uint64_t timestep) : key_(mix(seed + 1)) {
    for (const char c : dataset) key_ = mix(key_ ^ static_cast<unsigned char>(c));
    key_ = mix(key_ + timestep);
  }

  [[nodiscard]] std::uint32_t word(std::uint64_t index) const {
    const auto both = raw(index / 2);
    return as_float(static_cast<std::uint32_t>(index % 2 == 0 ? both : both >> 32));
  }
  void fill(std::uint64_t first, std::span<std::uint32_t> words) const {
    std::size_t i = 0;
    if (first % 2 != 0 && !words.empty()) words[i++] = word(first);
    for (; i + 1 < words.size(); i += 2) {
      const auto both = raw((first + i) / 2);
      words[i] = as_float(static_cast<std::uint32_t>(both));
      words[i + 1] = as_float(static_cast<std::uint32_t>(both >> 32));
    }
    if (i < words.size()) words[i] = word(first + i);
  }
  void fill(std::uint64_t first, std::span<std::uint64_t> words) const {
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = (raw(first + i) & 0x000fffffffffffff) | 0x3ff0000000000000;
  }
  void fill(std::uint64_t first, std::span<std::uint8_t> bytes) const {
    for (std::size_t i = 0; i < bytes.size();) {
      const auto at = first + i;
      const auto eight = raw(at / 8) | 0x0101010101010101;
      if (at % 8 == 0 && bytes.size() - i >= 8) {
        std::memcpy(bytes.data() + i, &eight, 8);
        i += 8;
      } else {
        bytes[i++] = static_cast<std::uint8_t>(eight >> (at % 8 * 8));
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t raw(std::uint64_t index) const {
    return mix(key_ + index * 0x9e3779b97f4a7c15);
  }
  static constexpr std::uint32_t as_float(std::uint32_t bits) { return (bits & 0x007fffff) | 0x3f800000; }

  std::uint64_t key_;
};

}  // namespace forebay::kernels
