// A number with a unit, exact to the unit's whole parts: the ground under bytes and durations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace forebay {

struct Unit {
  std::string_view suffix;  // lower case
  std::uint64_t factor;
};

struct Quantity {
  std::uint64_t value = 0;
  bool overflow = false;    // more than 64 bits: value is meaningless
  std::string_view suffix;  // as written
};

// Reads "<digits>[.<digits>][ ]<unit>" with a unit of `units` in any case. Fractions are rounded to the
// nearest whole. Nothing when the text has another shape.
std::optional<Quantity> parse_quantity(std::string_view text, std::span<const Unit> units);

std::string_view trim(std::string_view text);

}  // namespace forebay
