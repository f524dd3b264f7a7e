#include "tools/forebay/run/counted.hpp"

#include <algorithm>
#include <sstream>

#include "base/format.hpp"

namespace forebay {

// One line a counter, "NAME TIMES", and one a reason, "passed TIMES WHY".
std::string Counted::text() const {
  std::string text;
  for (const auto& [name, member] : kCounterNames) {
    if (const auto count = ((*counters).*member).load(); count != 0)
      text += format_text("{} {}\n", name, count);
  }
  for (const auto& [why, times] : passed) text += format_text("passed {} {}\n", times, why);
  return text;
}

Counted Counted::parse(std::string_view text) {
  Counted counted;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t count = 0;
    if (!(words >> name >> count)) continue;
    if (std::string why; name == "passed" && std::getline(words >> std::ws, why))
      counted.passed.push_back({why, count});
    for (const auto& [known, member] : kCounterNames) {
      if (known == name) ((*counted.counters).*member).store(count);
    }
  }
  return counted;
}

std::vector<Passed> passed_since(const std::vector<Passed>& before, const std::vector<Passed>& after) {
  std::vector<Passed> since;
  for (const auto& [why, times] : after) {
    const auto earlier = std::ranges::find(before, why, &Passed::why);
    const auto known = earlier == before.end() ? 0 : std::min(earlier->times, times);
    if (times != known) since.push_back({why, times - known});
  }
  std::ranges::stable_sort(since, std::ranges::greater{}, &Passed::times);
  return since;
}

}  // namespace forebay
