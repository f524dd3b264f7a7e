// How a failure travels upward: an errno value for the doors to translate and words for the person.
//
// Success carries no allocation; the message is built only on the failing path.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace forebay {

struct Error {
  int code = 0;         // an errno value, never 0
  std::string message;  // names the object and the action, without a final full stop
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

// `fail(EINVAL, "bucket size 3 is not a power of two")`
[[nodiscard]] inline std::unexpected<Error> fail(int code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

// "cannot open /scratch/a: No space left on device"
[[nodiscard]] std::unexpected<Error> fail_errno(int code, std::string_view action, std::string_view object);

}  // namespace forebay

#define FOREBAY_CONCAT_INNER(a, b) a##b
#define FOREBAY_CONCAT(a, b) FOREBAY_CONCAT_INNER(a, b)

// Leave the function with the error of a Status or Result expression, if it has one.
#define FOREBAY_TRY(expression)                                  \
  do {                                                           \
    if (auto forebay_status = (expression); !forebay_status)     \
      return std::unexpected(std::move(forebay_status).error()); \
  } while (0)

// FOREBAY_ASSIGN(auto fd, open_file(path)): bind the value, or leave with the error.
#define FOREBAY_ASSIGN(declaration, expression) \
  FOREBAY_ASSIGN_INNER(FOREBAY_CONCAT(forebay_result_, __LINE__), declaration, expression)
#define FOREBAY_ASSIGN_INNER(result, declaration, expression)     \
  auto result = (expression);                                     \
  if (!result) return std::unexpected(std::move(result).error()); \
  declaration = std::move(*result)
