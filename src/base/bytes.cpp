#include "base/bytes.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>

#include "base/format.hpp"
#include "base/quantity.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kPiB = 1024 * kTiB;

constexpr auto kUnits = std::to_array<Unit>({
    {"", 1},
    {"b", 1},
    {"k", kKiB},
    {"kib", kKiB},
    {"kb", 1'000},
    {"m", kMiB},
    {"mib", kMiB},
    {"mb", 1'000'000},
    {"g", kGiB},
    {"gib", kGiB},
    {"gb", 1'000'000'000},
    {"t", kTiB},
    {"tib", kTiB},
    {"tb", 1'000'000'000'000},
    {"p", kPiB},
    {"pib", kPiB},
    {"pb", 1'000'000'000'000'000},
});

struct Step {
  std::uint64_t factor;
  std::string_view suffix;
};
constexpr auto kSteps =
    std::to_array<Step>({{kPiB, "PiB"}, {kTiB, "TiB"}, {kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}});

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto quantity = parse_quantity(text, kUnits);
  if (!quantity) return fail(EINVAL, format_text("\"{}\" is not a size such as 4096, 256KiB or 1.5GB", text));
  if (quantity->overflow)
    return fail(ERANGE, format_text("\"{}\" is more bytes than 64 bits can count", text));
  return quantity->value;
}

Result<Amount> parse_amount(std::string_view text) {
  const std::string_view trimmed = trim(text);
  if (trimmed == "auto") return Amount{};
  if (!trimmed.ends_with('%')) {
    FOREBAY_ASSIGN(const std::uint64_t bytes, parse_bytes(text));
    return Amount::of_bytes(bytes);
  }
  const std::string_view digits = trim(trimmed.substr(0, trimmed.size() - 1));
  double percent = 0;
  const auto [end, ec] =
      std::from_chars(digits.data(), digits.data() + digits.size(), percent, std::chars_format::fixed);
  if (ec != std::errc{} || end != digits.data() + digits.size() || !(percent > 0 && percent <= 100)) {
    return fail(EINVAL, format_text("\"{}\" is not a share above 0% and up to 100%", text));
  }
  return Amount::of_percent(percent);
}

std::string format_bytes_exact(std::uint64_t bytes) {
  for (const Step& step : kSteps) {
    if (bytes != 0 && bytes % step.factor == 0) return format_text("{}{}", bytes / step.factor, step.suffix);
  }
  return format_text("{}", bytes);
}

std::string format_amount(const Amount& amount) {
  switch (amount.kind) {
    case Amount::Kind::Auto:
      return "auto";
    case Amount::Kind::Bytes:
      return format_bytes_exact(amount.bytes);
    case Amount::Kind::Percent:
      return format_text("{}%", amount.percent);
  }
  std::unreachable();
}

std::string format_bytes(std::uint64_t bytes) {
  for (const Step& step : kSteps) {
    if (bytes < step.factor) continue;
    const double value = static_cast<double>(bytes) / static_cast<double>(step.factor);
    return value < 10 ? format_text("{:.1f}{}", value, step.suffix)
                      : format_text("{:.0f}{}", std::floor(value), step.suffix);
  }
  return format_text("{}B", bytes);
}

}  // namespace forebay
