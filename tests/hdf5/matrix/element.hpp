// Elements of any datatype: made from a number, and reduced to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hdf5/matrix/id.hpp"

namespace forebay::testing::matrix {

// The same on every run and machine; different neighbours give unlike results.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t a, std::uint64_t b = 0) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15 + b + 0x2545f4914f6cdd1d;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Digest {
 public:
  void add(const void* bytes, std::size_t size) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ at[i]) * 0x100000001b3;
  }
  void add(std::string_view text) { add(text.data(), text.size()); }
  void add(std::uint64_t number) { add(&number, sizeof(number)); }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// Puts the element of `number` at `at`, which holds zeroes. What it allocates is for H5Treclaim. References
// point to objects below /targets of `file`.
void fill(hid_t file, hid_t type, std::byte* at, std::uint64_t number);

// Adds what the element means, not how it is stored: pointers are followed, references are named, padding is
// left out.
void reduce(hid_t file, hid_t type, const std::byte* at, Digest& digest);

// Does an element hold pointers or references, so that it must be reclaimed?
[[nodiscard]] bool needs_reclaim(hid_t type);

inline constexpr const char* kTargets[] = {"/targets/group", "/targets/data", "/targets/type"};

}  // namespace forebay::testing::matrix
