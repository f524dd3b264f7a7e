// What C callers hand in, made into what the engine takes.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace forebay::native {

// EINVAL with words for a handle or a place for the result that is missing.
template <class T>
Status given(const T* pointer, const char* what) {
  if (pointer == nullptr) return fail(EINVAL, std::string(what) + " is NULL");
  return {};
}

// A NULL-terminated array, or NULL.
inline std::vector<std::string> strings(const char* const* array) {
  std::vector<std::string> result;
  for (; array != nullptr && *array != nullptr; ++array) result.emplace_back(*array);
  return result;
}

// Negative stands for `otherwise`; what no clock could count is cut down.
inline std::chrono::nanoseconds patience(std::int64_t timeout_ms, std::chrono::nanoseconds otherwise) {
  if (timeout_ms < 0) return otherwise;
  constexpr std::int64_t kLongest = std::chrono::milliseconds(std::chrono::hours(24 * 365)).count();
  return std::chrono::milliseconds(timeout_ms < kLongest ? timeout_ms : kLongest);
}

}  // namespace forebay::native
