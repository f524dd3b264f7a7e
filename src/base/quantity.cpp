#include "base/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace forebay {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

const Unit* find_unit(std::string_view suffix, std::span<const Unit> units) {
  const auto unit = std::ranges::find_if(
      units, [&](const Unit& u) { return std::ranges::equal(u.suffix, suffix, {}, {}, to_lower); });
  return unit == units.end() ? nullptr : &*unit;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<Quantity> parse_quantity(std::string_view text, std::span<const Unit> units) {
  text = trim(text);
  const std::string_view whole = take_digits(text);
  if (whole.empty()) return std::nullopt;

  double fraction = 0;
  if (text.starts_with('.')) {
    const char* const point = text.data();
    text.remove_prefix(1);
    const std::string_view digits = take_digits(text);
    if (digits.empty()) return std::nullopt;
    std::from_chars(point, digits.data() + digits.size(), fraction);
  }

  Quantity quantity{.suffix = trim(text)};
  const Unit* const unit = find_unit(quantity.suffix, units);
  if (unit == nullptr) return std::nullopt;

  std::uint64_t number = 0;
  const auto parsed = std::from_chars(whole.data(), whole.data() + whole.size(), number);
  const auto extra = static_cast<std::uint64_t>(std::llround(fraction * static_cast<double>(unit->factor)));
  quantity.overflow = parsed.ec != std::errc{} ||
                      __builtin_mul_overflow(number, unit->factor, &quantity.value) ||
                      __builtin_add_overflow(quantity.value, extra, &quantity.value);
  return quantity;
}

}  // namespace forebay
