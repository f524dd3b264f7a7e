#include "config/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/format.hpp"

namespace forebay {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  constexpr std::size_t kLongest = 100;
  if (word.empty() || word.size() > kLongest) return {};
  for (const std::string_view name : names) {
    if (name.size() > word.size() && name.ends_with(word) && name[name.size() - word.size() - 1] == '.')
      return name;
  }
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance < best_distance && distance < name.size()) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view name = nearest(word, names);
  return name.empty() ? "" : format_text("; did you mean {}?", name);
}

}  // namespace forebay
