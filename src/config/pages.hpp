// What people read about the settings, made from the table.
#pragma once

#include <string>

namespace forebay {

// docs/settings.md
std::string settings_markdown();

// docs/forebay.yaml: every setting with its default, commented out.
std::string settings_sample();

}  // namespace forebay
