#include "base/format.hpp"

namespace forebay {

std::string vformat_text(std::string_view format, std::format_args args) {
  return std::vformat(format, args);
}

}  // namespace forebay
