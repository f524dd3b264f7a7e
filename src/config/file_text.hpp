// The content of a small text file.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace forebay {

// EFBIG above 1 MiB. `what` names the kind of file in errors: "configuration file".
Result<std::string> read_text(const std::string& path, std::string_view what);

}  // namespace forebay
