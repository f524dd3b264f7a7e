#include "tools/forebay/report/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/format.hpp"

namespace forebay::report {
namespace {

struct Step {
  double factor;
  const char* name;
};

constexpr std::array kBytes{Step{1, "B"},     Step{1e3, "kB"},  Step{1e6, "MB"}, Step{1e9, "GB"},
                            Step{1e12, "TB"}, Step{1e15, "PB"}, Step{1e18, "EB"}};
constexpr std::array kSeconds{Step{1e-9, "ns"}, Step{1e-6, "µs"}, Step{1e-3, "ms"},
                              Step{1, "s"},     Step{60, "min"},  Step{3600, "h"}};
constexpr std::array kCounts{Step{1, ""}, Step{1e6, "M"}, Step{1e9, "G"}, Step{1e12, "T"}};

// The largest unit of which there is at least `least`, once rounded.
Step step_for(double value, std::span<const Step> steps, double least = 1) {
  Step best = steps.front();
  for (const auto& step : steps) {
    if (value >= least * step.factor * 0.9995) best = step;
  }
  return best;
}

// Minutes and hours only where seconds would have too many digits.
Step seconds_step(double seconds) {
  if (seconds < 599.5) return step_for(seconds, std::span(kSeconds).first(4));
  return seconds < 35970 ? kSeconds[4] : kSeconds[5];
}

std::string with_unit(double value, const Step& step) {
  const auto digits = digits_text(value / step.factor);
  return *step.name == '\0' ? digits : format_text("{} {}", digits, step.name);
}

}  // namespace

std::string digits_text(double number) {
  if (!std::isfinite(number)) return "?";
  if (number == 0) return "0";
  if (number < 0) return "−" + digits_text(-number);
  // Rounded to three digits first: 9.996 is 10.0.
  const auto exponent = static_cast<int>(std::floor(std::log10(number)));
  const auto scale = std::pow(10.0, exponent - 2);
  const auto rounded = std::round(number / scale) * scale;
  const auto digits = static_cast<int>(std::floor(std::log10(rounded * (1 + 1e-12))));
  if (digits > 14 || digits < -4) return format_text("{:.2e}", rounded);
  return format_text("{:.{}f}", rounded, std::max(0, 2 - digits));
}

std::string bytes_text(double bytes) {
  if (bytes < 999.5) return format_text("{:.0f} B", bytes);
  return with_unit(bytes, step_for(bytes, kBytes));
}
std::string rate_text(double rate) { return with_unit(rate, step_for(rate, kBytes)) + "/s"; }
std::string seconds_text(double seconds) {
  return seconds == 0 ? "0 s" : with_unit(seconds, seconds_step(seconds));
}
std::string count_text(double count) {
  if (count < 99999.5 && count == std::floor(count)) return format_text("{:.0f}", count);
  return with_unit(count, step_for(count, kCounts));
}
std::string percent_text(double share) { return digits_text(share * 100) + " %"; }

std::string range_text(const std::string& low, const std::string& high) {
  const auto unit = low.rfind(' ');
  if (unit != std::string::npos && high.rfind(' ') != std::string::npos &&
      low.substr(unit) == high.substr(high.rfind(' '))) {
    return format_text("{} – {}", low.substr(0, unit), high);
  }
  return format_text("{} – {}", low, high);
}

Unit unit_of_bytes(double largest) {
  const auto step = step_for(largest, kBytes);
  return {step.factor, step.name};
}
Unit unit_of_seconds(double largest) {
  const auto step = largest > 0 ? seconds_step(largest) : kSeconds[3];
  return {step.factor, step.name};
}

}  // namespace forebay::report
