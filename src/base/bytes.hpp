// Amounts of bytes as people write them: "256KiB", "4G", "1.5GB", "25%".
//
// K, M, G, T, P and KiB.. are powers of 1024; KB, MB.. are powers of 1000; a bare number is bytes.
// Case does not matter and a space may stand before the unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace forebay {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;
inline constexpr std::uint64_t kTiB = 1024 * kGiB;

// An exact number of bytes, or a share of something known only later, or a decision left open.
struct Amount {
  enum class Kind : std::uint8_t { Auto, Bytes, Percent };

  Kind kind = Kind::Auto;
  std::uint64_t bytes = 0;  // of Kind::Bytes
  double percent = 0;       // of Kind::Percent, above 0 and at most 100

  static constexpr Amount of_bytes(std::uint64_t bytes) { return {Kind::Bytes, bytes, 0}; }
  static constexpr Amount of_percent(double percent) { return {Kind::Percent, 0, percent}; }

  [[nodiscard]] bool is_auto() const { return kind == Kind::Auto; }
  [[nodiscard]] bool is_bytes() const { return kind == Kind::Bytes; }
  bool operator==(const Amount&) const = default;
};

// EINVAL with words when `text` is not a size, ERANGE when it does not fit 64 bits.
// A fraction of a byte is dropped.
Result<std::uint64_t> parse_bytes(std::string_view text);

// As parse_bytes, and also "25%" and "auto".
Result<Amount> parse_amount(std::string_view text);

// The shortest text that parse_bytes reads back as the same number: "256KiB", "1000", "0".
std::string format_bytes_exact(std::uint64_t bytes);
std::string format_amount(const Amount& amount);

// For people: "1.4GiB". Not exact.
std::string format_bytes(std::uint64_t bytes);

}  // namespace forebay
