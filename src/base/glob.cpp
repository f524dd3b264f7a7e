#include "base/glob.hpp"

#include <algorithm>
#include <optional>

namespace forebay {
namespace {

struct Bracket {
  bool matches;
  std::size_t end;  // index behind the ']'
};

// `pattern[at]` is '['. Nothing when the bracket is never closed.
std::optional<Bracket> match_bracket(std::string_view pattern, std::size_t at, char c) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (const std::size_t first = i; i < pattern.size(); ++i) {
    if (pattern[i] == ']' && i > first) return Bracket{found != negated && c != '/', i + 1};
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const char low = pattern[i];
    char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      i += 2;
      if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
      high = pattern[i];
    }
    const auto byte = [](char x) { return static_cast<unsigned char>(x); };
    found = found || (byte(low) <= byte(c) && byte(c) <= byte(high));
  }
  return std::nullopt;
}

// Index behind the single-character element at `pattern[at]` if it matches `c`.
std::optional<std::size_t> match_one(std::string_view pattern, std::size_t at, char c) {
  switch (pattern[at]) {
    case '?':
      return c != '/' ? std::optional(at + 1) : std::nullopt;
    case '[':
      if (const auto bracket = match_bracket(pattern, at, c)) {
        return bracket->matches ? std::optional(bracket->end) : std::nullopt;
      }
      break;
    case '\\':
      if (at + 1 < pattern.size()) ++at;
      break;
    default:
      break;
  }
  return pattern[at] == c ? std::optional(at + 1) : std::nullopt;
}

// A star met on the way: where the pattern goes on behind it, and up to where it has swallowed the text. Only
// the latest of each kind has to be remembered: whatever an earlier one could swallow more, it can too.
struct Star {
  std::size_t pattern;
  std::size_t text;
};

bool match_whole(std::string_view pattern, std::string_view text) {
  std::optional<Star> star;       // "*"
  std::optional<Star> deep_star;  // "**"
  bool deep_by_component = false;
  std::size_t p = 0;
  std::size_t t = 0;

  while (p < pattern.size() || t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      std::size_t end = std::min(pattern.find_first_not_of('*', p), pattern.size());
      if (end - p == 1) {
        star = Star{end, t};
      } else {
        deep_by_component = (p == 0 || pattern[p - 1] == '/') && end < pattern.size() && pattern[end] == '/';
        if (deep_by_component) ++end;
        deep_star = Star{end, t};
        star.reset();
      }
      p = end;
      continue;
    }
    if (p < pattern.size() && t < text.size()) {
      if (const auto next = match_one(pattern, p, text[t])) {
        p = *next;
        ++t;
        continue;
      }
    }
    if (star && star->text < text.size() && text[star->text] != '/') {
      t = ++star->text;
      p = star->pattern;
      continue;
    }
    if (!deep_star) return false;
    star.reset();
    if (deep_by_component) {
      const std::size_t slash = text.find('/', deep_star->text);
      if (slash == std::string_view::npos) return false;
      deep_star->text = slash;
    }
    if (deep_star->text >= text.size()) return false;
    t = ++deep_star->text;
    p = deep_star->pattern;
  }
  return true;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view path) {
  if (pattern.find('/') == std::string_view::npos) path = path.substr(path.rfind('/') + 1);
  return match_whole(pattern, path);
}

}  // namespace forebay
