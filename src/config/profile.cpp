#include "config/profile.hpp"

#include <algorithm>
#include <cerrno>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "config/document.hpp"
#include "config/file_text.hpp"
#include "config/reader.hpp"
#include "config/table.hpp"

namespace forebay {
namespace {

using Kind = DocumentNode::Kind;

// A profile's entry has the keys of a tier; those of a home have no kind.
Result<TierSettings> parse_entry(const DocumentNode& entry, std::string_view section, std::string_view name) {
  TierSettings tier;
  if (entry.kind != Kind::Map)
    return fail_at(origin_at(name, entry.line), section, "an entry has keys and values");
  for (const auto& [word, line, value] : entry.members) {
    const auto field = std::ranges::find(tier_fields(), word, &TierField::name);
    const std::string origin = origin_at(name, line);
    const std::string key = format_text("{}.{}", section, word);
    if (field == tier_fields().end()) return fail_at(origin, key, "unknown key");
    if (value.kind != Kind::Scalar) return fail_at(origin, key, "needs one value");
    if (const auto read = field->read(value.text, field->limits, tier); !read) {
      return fail_at(origin, key, read.error().message);
    }
  }
  if (tier.path.empty() || !tier.bandwidth || !tier.latency) {
    return fail_at(origin_at(name, entry.line), section, "an entry needs path, bandwidth and latency");
  }
  return tier;
}

Status parse_section(const DocumentNode::Member& section, std::string_view name, Profile& profile) {
  const bool tiers = section.key == "tiers";
  if (!tiers && section.key != "homes")
    return fail_at(origin_at(name, section.line), section.key, "unknown key");
  for (const DocumentNode& entry : section.value.items) {
    FOREBAY_ASSIGN(const TierSettings read, parse_entry(entry, section.key, name));
    const Figures figures{.path = read.path, .bandwidth = *read.bandwidth, .latency = *read.latency};
    if (tiers) {
      profile.tiers.push_back({figures, read.kind});
    } else {
      profile.homes.push_back(figures);
    }
  }
  return {};
}

std::string format_figures(const Figures& figures) {
  return format_text("path: {}, bandwidth: {}/s, latency: {}}}\n", json_quote(figures.path),
                     format_bytes_exact(figures.bandwidth), format_duration_exact(figures.latency));
}

}  // namespace

Result<Profile> parse_profile(std::string_view yaml, std::string_view name) {
  FOREBAY_ASSIGN(const DocumentNode document, parse_document(yaml, name));
  if (document.kind != Kind::Map && document.kind != Kind::Nothing) {
    return fail(EINVAL, format_text("{}: not a profile", origin_at(name, document.line)));
  }
  Profile profile;
  for (const DocumentNode::Member& section : document.members)
    FOREBAY_TRY(parse_section(section, name, profile));
  return profile;
}

Result<Profile> read_profile(const std::string& path) {
  FOREBAY_ASSIGN(const std::string text, read_text(path, "profile"));
  return parse_profile(text, path);
}

std::string format_profile(const Profile& profile) {
  std::string yaml = "# Written by forebay profile.\ntiers:\n";
  for (const TierFigures& tier : profile.tiers) {
    yaml += format_text("  - {{kind: {}, {}", to_string(tier.kind), format_figures(tier));
  }
  yaml += "homes:\n";
  for (const Figures& home : profile.homes) yaml += format_text("  - {{{}", format_figures(home));
  return yaml;
}

}  // namespace forebay
