#include "base/error.hpp"

#include <cstring>

namespace forebay {

std::unexpected<Error> fail_errno(int code, std::string_view action, std::string_view object) {
  std::string message = "cannot ";
  message.append(action).append(" ").append(object).append(": ").append(std::strerror(code));
  return fail(code, std::move(message));
}

}  // namespace forebay
