// How a value of each type is read from text, checked against its limits, and written as text again.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "config/choices.hpp"

namespace forebay {

enum class Form : std::uint8_t {
  Plain,
  Rate,      // of a number of bytes: per second
  Percent,   // of a whole number
  Path,      // of a string: an absolute path, in which variables are expanded
  Name,      // of a string: 1 to 64 letters, digits, '.', '_', '-'
  Paths,     // of a list: absolute paths, in which variables are expanded
  Patterns,  // of a list: path patterns (base/glob.hpp)
};

struct Limits {
  std::uint64_t min = 0;  // bytes, nanoseconds or a count
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::string_view zero = {};   // what 0 means, where it is allowed although below min
  std::string_view empty = {};  // what an empty string means, where it is allowed
  bool power_of_two = false;
  Form form = Form::Plain;
};

// read:    the value, or EINVAL with `"3" is not a power of two from 4KiB to 16MiB`
// write:   the text that reads back as the same value
// allowed: a noun phrase that completes "is not ..."
template <class T>
struct Value;

template <>
struct Value<std::uint64_t> {  // bytes
  static Result<std::uint64_t> read(std::string_view text, const Limits& limits);
  static std::string write(const std::uint64_t& value, const Limits& limits);
  static std::string allowed(const Limits& limits);
};

template <>
struct Value<std::uint32_t> {  // a count
  static Result<std::uint32_t> read(std::string_view text, const Limits& limits);
  static std::string write(const std::uint32_t& value, const Limits& limits);
  static std::string allowed(const Limits& limits);
};

template <>
struct Value<std::chrono::nanoseconds> {
  static Result<std::chrono::nanoseconds> read(std::string_view text, const Limits& limits);
  static std::string write(const std::chrono::nanoseconds& value, const Limits& limits);
  static std::string allowed(const Limits& limits);
};

template <>
struct Value<Amount> {
  static Result<Amount> read(std::string_view text, const Limits& limits);
  static std::string write(const Amount& value, const Limits& limits);
  static std::string allowed(const Limits& limits);
};

template <>
struct Value<bool> {
  static Result<bool> read(std::string_view text, const Limits& limits);
  static std::string write(const bool& value, const Limits& limits);
  static std::string allowed(const Limits& limits);
};

template <>
struct Value<std::string> {
  static Result<std::string> read(std::string_view text, const Limits& limits);
  static std::string write(const std::string& value, const Limits& limits);
  static std::string allowed(const Limits& limits);
};

// Joined by colons; one that belongs to a pattern is written \:, no path can have one.
template <>
struct Value<std::vector<std::string>> {
  static Result<std::vector<std::string>> read(std::string_view text, const Limits& limits);
  static std::string write(const std::vector<std::string>& value, const Limits& limits);
  static std::string allowed(const Limits& limits);
};

// Without "." and "..", double slashes and a slash at the end. Empty stays empty.
std::string normal_path(std::string_view path);

// Why a path pattern can never match anything; empty if it can.
std::string why_no_pattern(std::string_view pattern);

[[nodiscard]] std::unexpected<Error> fail_value(std::string_view text, std::string_view allowed);

// "home or detach", "async, sync, scratch or bypass"
std::string join_words(std::span<const std::string_view> words);

template <Choice E>
struct Value<E> {
  static Result<E> read(std::string_view text, const Limits& limits) {
    if (const auto choice = parse_choice<E>(text)) return *choice;
    return fail_value(text, allowed(limits));
  }
  static std::string write(const E& value, const Limits& /*limits*/) { return std::string(to_string(value)); }
  static std::string allowed(const Limits& /*limits*/) { return join_words(kWords<E>); }
};

template <class T>
struct Value<std::optional<T>> {
  static Result<std::optional<T>> read(std::string_view text, const Limits& limits) {
    return Value<T>::read(text, limits);
  }
  static std::string write(const std::optional<T>& value, const Limits& limits) {
    return value ? Value<T>::write(*value, limits) : "";
  }
  static std::string allowed(const Limits& limits) { return Value<T>::allowed(limits); }
};

}  // namespace forebay
