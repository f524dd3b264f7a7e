// What no single value can tell: settings that contradict each other.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "config/settings.hpp"

namespace forebay {

// Tiers are held against each other and against what files want of them, unless they are still to be chosen
// (empty). Sizes are checked as far as they are bytes.
Status validate(const Settings& settings);

// `file` against the tiers; `origin` and `key` begin the error.
Status validate_file(const FileSettings& file, const Settings& settings, std::string_view origin,
                     std::string_view key);

}  // namespace forebay
