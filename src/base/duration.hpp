// Lengths of time as people write them: "200ms", "5s", "1.5h". The unit (ns, us, ms, s, m or min, h, d) may
// only be left out of 0.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace forebay {

// EINVAL with words when `text` is not a duration, ERANGE beyond 292 years.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

// The shortest text that parse_duration reads back as the same duration: "200ms", "90s", "0". Never negative.
std::string format_duration_exact(std::chrono::nanoseconds duration);

// For people: "1.4s", "2m05s", "3h20m". Not exact.
std::string format_duration(std::chrono::nanoseconds duration);

}  // namespace forebay
