#include "config/validate.hpp"

#include <algorithm>
#include <ranges>

#include "base/format.hpp"
#include "config/reader.hpp"
#include "config/table.hpp"

namespace forebay {
namespace {

bool is_persistent(TierKind kind) { return kind == TierKind::Pmem || kind == TierKind::Nvme; }

std::string tier_names(const Settings& settings) {
  const auto names =
      settings.tiers |
      std::views::transform([](const TierSettings& tier) -> std::string_view { return tier.name; }) |
      std::ranges::to<std::vector>();
  return join_words(names);
}

std::string_view origin_of(const Settings& settings, std::string_view name) {
  const auto found = settings.origins.find(name);
  return found == settings.origins.end() ? std::string_view{} : found->second;
}

Status validate_tier(const Settings& settings, std::size_t index) {
  const TierSettings& tier = settings.tiers[index];
  const std::string key = format_text("{}[{}]", kTiersKey, index);
  for (std::size_t i = 0; i < index; ++i) {
    const TierSettings& other = settings.tiers[i];
    if (other.kind == tier.kind && other.path == tier.path) {
      return fail_at(
          tier.origin, key,
          format_text("{} at {} is {}[{}] already", to_string(tier.kind), tier.path, kTiersKey, i));
    }
    if (other.name == tier.name) {
      return fail_at(tier.origin, key + ".name",
                     format_text("\"{}\" is the name of {}[{}] already", tier.name, kTiersKey, i));
    }
  }
  const std::uint64_t least = kMinTierBuckets * settings.buffer.bucket_size;
  if (tier.size.is_bytes() && tier.size.bytes < least) {
    return fail_at(
        tier.origin, key + ".size",
        format_text("\"{}\" is less than {} buckets of {} ({})", format_amount(tier.size), kMinTierBuckets,
                    format_bytes_exact(settings.buffer.bucket_size), format_bytes_exact(least)));
  }
  return {};
}

}  // namespace

Status validate_file(const FileSettings& file, const Settings& settings, std::string_view origin,
                     std::string_view key) {
  if (settings.tiers.empty()) return {};
  const auto tier = std::ranges::find(settings.tiers, file.tier, &TierSettings::name);
  const bool chosen = !file.tier.empty();
  if (chosen && tier == settings.tiers.end()) {
    return fail_at(origin, key,
                   format_text("no tier is named \"{}\", only {}", file.tier, tier_names(settings)));
  }
  if (file.durability != Durability::Node) return {};
  if (chosen && !is_persistent(tier->kind)) {
    return fail_at(origin, key,
                   format_text("durability node needs a pmem or nvme tier, but tier {} is of kind {}",
                               file.tier, to_string(tier->kind)));
  }
  if (std::ranges::none_of(settings.tiers, is_persistent, &TierSettings::kind)) {
    return fail_at(
        origin, key,
        format_text("durability node needs a pmem or nvme tier, and there is only {}", tier_names(settings)));
  }
  return {};
}

Status validate(const Settings& settings) {
  if (settings.tiers.size() > kMaxTiers) {
    return fail_at(settings.tiers[kMaxTiers].origin, kTiersKey,
                   format_text("{} tiers are more than the {} allowed", settings.tiers.size(), kMaxTiers));
  }
  for (std::size_t i = 0; i < settings.tiers.size(); ++i) FOREBAY_TRY(validate_tier(settings, i));

  const PressureSettings& pressure = settings.pressure;
  if (pressure.low_water > pressure.high_water) {
    const std::string_view low = "pressure.low_water";
    const std::string_view high = "pressure.high_water";
    const std::string_view blamed = origin_of(settings, low).empty() ? high : low;
    return fail_at(
        origin_of(settings, blamed), blamed,
        format_text("{} ({}%) is above {} ({}%)", low, pressure.low_water, high, pressure.high_water));
  }

  const std::string_view blamed = origin_of(settings, "tier").empty() ? "durability" : "tier";
  FOREBAY_TRY(validate_file(settings.file_defaults, settings, origin_of(settings, blamed), blamed));
  for (std::size_t i = 0; i < settings.rules.size(); ++i) {
    const FileRule& rule = settings.rules[i];
    FileSettings merged = settings.file_defaults;
    for (const std::string_view name : rule.given) find_setting(name)->copy(rule.values, merged);
    FOREBAY_TRY(validate_file(merged, settings, rule.origin, format_text("{}[{}]", kRulesKey, i)));
  }
  return {};
}

}  // namespace forebay
