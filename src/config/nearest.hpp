// "Did you mean ...?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace forebay {

// The name whose last part is `word`, else the one closest to it by insertions, deletions, replacements and
// swaps of neighbours, if it is close enough to be what was meant; empty otherwise.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

// "; did you mean drain.trigger?" or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

}  // namespace forebay
