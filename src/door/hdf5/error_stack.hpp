// The one place where a failure becomes an entry on HDF5's error stack.
#pragma once

#include <hdf5.h>

#include <source_location>
#include <string>

#include "base/error.hpp"
#include "door/hdf5/quiet.hpp"

namespace forebay::hdf5 {

// `major` and `minor` as for H5Epush2.
inline void push_words(const char* words, hid_t major, hid_t minor,
                       const std::source_location& where = std::source_location::current()) {
  H5Epush2(H5E_DEFAULT, where.file_name(), where.function_name(), where.line(), H5E_ERR_CLS, major, minor,
           "%s", words);
}

inline void push_error(const Error& error, hid_t major, hid_t minor,
                       const std::source_location& where = std::source_location::current()) {
  push_words(error.message.c_str(), major, minor, where);
}

// Keeps the entries of a failure while cleaning up, which may clear them.
class KeepErrorStack {
 public:
  KeepErrorStack() : stack_(H5Eget_current_stack()) {}
  ~KeepErrorStack() { H5Eset_current_stack(stack_); }
  KeepErrorStack(const KeepErrorStack&) = delete;
  KeepErrorStack& operator=(const KeepErrorStack&) = delete;

 private:
  hid_t stack_;
};

// The words of the entry that came first of those on the stack: where it began, and so mostly why.
[[nodiscard]] inline std::string first_words() {
  std::string words;
  const auto take = [](unsigned /*number*/, const H5E_error2_t* entry, void* into) -> herr_t {
    auto& first = *static_cast<std::string*>(into);
    if (first.empty() && entry->desc != nullptr) first = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &words);
  return words;
}

// What fails in its lifetime is expected: nothing is printed, and nothing stays on the stack.
class ExpectFailure {
 public:
  ExpectFailure() = default;
  ExpectFailure(const ExpectFailure&) = delete;
  ExpectFailure& operator=(const ExpectFailure&) = delete;
  ~ExpectFailure() = default;

 private:
  const KeepErrorStack keep_{};
  const Quiet quiet_{};
};

}  // namespace forebay::hdf5
