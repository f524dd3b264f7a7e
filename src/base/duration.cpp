#include "base/duration.hpp"

#include <array>
#include <cerrno>
#include <limits>

#include "base/format.hpp"
#include "base/quantity.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::uint64_t kMillisecond = 1'000 * kMicrosecond;
constexpr std::uint64_t kSecond = 1'000 * kMillisecond;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;

constexpr auto kUnits = std::to_array<Unit>({
    {"", 1},
    {"ns", 1},
    {"us", kMicrosecond},
    {"ms", kMillisecond},
    {"s", kSecond},
    {"m", kMinute},
    {"min", kMinute},
    {"h", kHour},
    {"d", kDay},
});

struct Step {
  std::uint64_t factor;
  std::string_view suffix;
};
constexpr auto kSteps = std::to_array<Step>(
    {{kDay, "d"}, {kHour, "h"}, {kMinute, "m"}, {kSecond, "s"}, {kMillisecond, "ms"}, {kMicrosecond, "us"}});

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto quantity = parse_quantity(text, kUnits);
  if (!quantity || (quantity->suffix.empty() && quantity->value != 0)) {
    return fail(EINVAL, format_text("\"{}\" is not a duration such as 200ms, 5s or 2m", text));
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (quantity->overflow || quantity->value > kMax) {
    return fail(ERANGE, format_text("\"{}\" is longer than 292 years", text));
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(quantity->value));
}

std::string format_duration_exact(std::chrono::nanoseconds duration) {
  const auto count = static_cast<std::uint64_t>(duration.count());
  if (count == 0) return "0";
  for (const Step& step : kSteps) {
    if (count % step.factor == 0) return format_text("{}{}", count / step.factor, step.suffix);
  }
  return format_text("{}ns", count);
}

std::string format_duration(std::chrono::nanoseconds duration) {
  const auto count = static_cast<std::uint64_t>(duration.count());
  if (count >= kDay) return format_text("{}d{:02}h", count / kDay, count % kDay / kHour);
  if (count >= kHour) return format_text("{}h{:02}m", count / kHour, count % kHour / kMinute);
  if (count >= kMinute) return format_text("{}m{:02}s", count / kMinute, count % kMinute / kSecond);
  for (const Step& step : kSteps) {
    if (count >= step.factor) {
      return format_text("{:.3g}{}", static_cast<double>(count) / static_cast<double>(step.factor),
                         step.suffix);
    }
  }
  return format_text("{}ns", count);
}

}  // namespace forebay
