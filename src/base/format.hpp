// std::format without its price: what std::format leaves in every source that calls it takes four seconds of
// optimising each. Here the format is checked where it is written, as with std::format, and carried out in
// one place.
#pragma once

#include <format>
#include <string>
#include <string_view>

namespace forebay {

[[nodiscard]] std::string vformat_text(std::string_view format, std::format_args args);

template <class... Args>
[[nodiscard]] std::string format_text(std::format_string<Args...> format, Args&&... args) {
  return vformat_text(format.get(), std::make_format_args(args...));
}

}  // namespace forebay
