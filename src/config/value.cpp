#include "config/value.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "base/quantity.hpp"

namespace forebay {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kNoMax = std::numeric_limits<std::uint64_t>::max();

std::uint64_t magnitude(std::uint64_t value) { return value; }
std::uint64_t magnitude(std::uint32_t value) { return value; }
std::uint64_t magnitude(nanoseconds value) { return static_cast<std::uint64_t>(value.count()); }

template <class T>
bool within(const T& value, const Limits& limits) {
  const std::uint64_t number = magnitude(value);
  if (number == 0 && !limits.zero.empty()) return true;
  return number >= limits.min && number <= limits.max &&
         (!limits.power_of_two || std::has_single_bit(number));
}

// "0 (off) or a size from 4KiB to 1GiB"
std::string describe(std::string_view noun, const Limits& limits, auto write) {
  std::string words;
  if (!limits.zero.empty()) words = format_text("0 ({}) or ", limits.zero);
  words += limits.power_of_two ? "a power of two" : noun;
  if (limits.max != kNoMax)
    return words += format_text(" from {} to {}", write(limits.min), write(limits.max));
  if (limits.min != 0) return words += format_text(" of at least {}", write(limits.min));
  return words;
}

template <class T>
Result<T> checked(Result<T> value, std::string_view text, const Limits& limits) {
  if (!value || !within(*value, limits)) return fail_value(text, Value<T>::allowed(limits));
  return value;
}

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= 64 && text.find_first_not_of(kLetters) == std::string_view::npos &&
         text != "." && text != "..";
}

// The index of the colon that ends the item at `from`, or the end of the text.
std::size_t next_colon(std::string_view text, std::size_t from, bool escapes) {
  for (; from < text.size() && text[from] != ':'; ++from) {
    if (escapes && text[from] == '\\' && from + 1 < text.size()) ++from;
  }
  return from;
}

}  // namespace

std::string normal_path(std::string_view path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

std::unexpected<Error> fail_value(std::string_view text, std::string_view allowed) {
  constexpr std::size_t kShown = 200;
  const bool whole = text.size() <= kShown;
  return fail(EINVAL, format_text("\"{}{}\" is not {}", text.substr(0, kShown), whole ? "" : "...", allowed));
}

std::string join_words(std::span<const std::string_view> words) {
  std::string joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += i + 1 == words.size() ? " or " : ", ";
    joined += words[i];
  }
  return joined;
}

Result<std::uint64_t> Value<std::uint64_t>::read(std::string_view text, const Limits& limits) {
  std::string_view size = trim(text);
  if (limits.form == Form::Rate && size.ends_with("/s")) size.remove_suffix(2);
  return checked(parse_bytes(size), text, limits);
}

std::string Value<std::uint64_t>::write(const std::uint64_t& value, const Limits& limits) {
  return format_bytes_exact(value) + (limits.form == Form::Rate && value != 0 ? "/s" : "");
}

std::string Value<std::uint64_t>::allowed(const Limits& limits) {
  return describe(limits.form == Form::Rate ? "a size per second" : "a size", limits,
                  [&](std::uint64_t bytes) { return write(bytes, limits); });
}

Result<std::uint32_t> Value<std::uint32_t>::read(std::string_view text, const Limits& limits) {
  std::string_view digits = trim(text);
  if (limits.form == Form::Percent && digits.ends_with('%')) digits.remove_suffix(1);
  std::uint32_t value = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (ec != std::errc{} || end != digits.data() + digits.size()) return fail_value(text, allowed(limits));
  return checked<std::uint32_t>(value, text, limits);
}

std::string Value<std::uint32_t>::write(const std::uint32_t& value, const Limits& limits) {
  return format_text("{}{}", value, limits.form == Form::Percent ? "%" : "");
}

std::string Value<std::uint32_t>::allowed(const Limits& limits) {
  return describe(limits.form == Form::Percent ? "a percentage" : "a whole number", limits,
                  [&](std::uint64_t number) { return write(static_cast<std::uint32_t>(number), limits); });
}

Result<nanoseconds> Value<nanoseconds>::read(std::string_view text, const Limits& limits) {
  return checked(parse_duration(text), text, limits);
}

std::string Value<nanoseconds>::write(const nanoseconds& value, const Limits& /*limits*/) {
  return format_duration_exact(value);
}

std::string Value<nanoseconds>::allowed(const Limits& limits) {
  return describe("a duration", limits, [](std::uint64_t count) {
    return format_duration_exact(nanoseconds(static_cast<std::int64_t>(count)));
  });
}

Result<Amount> Value<Amount>::read(std::string_view text, const Limits& limits) {
  const auto amount = parse_amount(text);
  if (!amount || (amount->is_bytes() && !within(amount->bytes, limits)))
    return fail_value(text, allowed(limits));
  return amount;
}

std::string Value<Amount>::write(const Amount& value, const Limits& /*limits*/) {
  return format_amount(value);
}

std::string Value<Amount>::allowed(const Limits& limits) {
  return describe("a size", limits, [](std::uint64_t bytes) { return format_bytes_exact(bytes); }) +
         ", a share such as 25%, or auto";
}

Result<bool> Value<bool>::read(std::string_view text, const Limits& limits) {
  for (const std::string_view word : {"true", "yes", "on", "1"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "no", "off", "0"}) {
    if (text == word) return false;
  }
  return fail_value(text, allowed(limits));
}

std::string Value<bool>::write(const bool& value, const Limits& /*limits*/) {
  return value ? "true" : "false";
}

std::string Value<bool>::allowed(const Limits& /*limits*/) { return "true or false"; }

Result<std::string> Value<std::string>::read(std::string_view text, const Limits& limits) {
  const bool empty_allowed = text.empty() && !limits.empty.empty();
  const bool allowed_text = limits.form == Form::Name   ? is_name(text)
                            : limits.form == Form::Path ? text.starts_with('/') && !text.contains('\0')
                                                        : !text.empty();
  if (!empty_allowed && !allowed_text) return fail_value(text, allowed(limits));
  return std::string(text);
}

std::string Value<std::string>::write(const std::string& value, const Limits& /*limits*/) { return value; }

std::string Value<std::string>::allowed(const Limits& limits) {
  std::string words;
  if (!limits.empty.empty()) words = format_text("empty ({}) or ", limits.empty);
  switch (limits.form) {
    case Form::Name:
      return words + "a name of 1 to 64 letters, digits, '.', '_' and '-'";
    case Form::Path:
      return words + "an absolute path";
    default:
      return words + "a text";
  }
}

std::string why_no_pattern(std::string_view pattern) {
  if (!pattern.contains('/') || pattern.starts_with('/') || pattern.starts_with("**")) return {};
  return format_text("\"{}\" can never match: a pattern with '/' begins with '/' or **", pattern);
}

Result<std::vector<std::string>> Value<std::vector<std::string>>::read(std::string_view text,
                                                                       const Limits& limits) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = next_colon(text, begin, limits.form == Form::Patterns);
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) continue;
    if (limits.form == Form::Paths) {
      if (!item.starts_with('/') || item.contains('\0')) return fail_value(item, "an absolute path");
      items.push_back(normal_path(item));
    } else {
      if (auto why = why_no_pattern(item); !why.empty()) return fail(EINVAL, std::move(why));
      items.emplace_back(item);
    }
  }
  return items;
}

std::string Value<std::vector<std::string>>::write(const std::vector<std::string>& value,
                                                   const Limits& /*limits*/) {
  std::string text;
  for (const std::string& item : value) text += (text.empty() ? "" : ":") + item;
  return text;
}

std::string Value<std::vector<std::string>>::allowed(const Limits& limits) {
  return format_text("empty ({}) or {}, separated by colons", limits.empty,
                     limits.form == Form::Paths ? "absolute paths" : "patterns");
}

}  // namespace forebay
