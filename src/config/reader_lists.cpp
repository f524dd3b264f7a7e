// The settings that are lists: tiers, the rules for files, and lists of texts.
#include <algorithm>
#include <ranges>

#include "base/format.hpp"
#include "base/quantity.hpp"
#include "config/nearest.hpp"
#include "config/reader.hpp"

namespace forebay {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::string_view kTierForms =
    "tiers are a list of entries {kind: ..., path: ..., size: ...}, or a text kind:path:size,kind:path:size";
constexpr std::string_view kRuleForms = "files is a list of entries {match: PATTERN, SETTING: VALUE, ...}";

Status read_tier_field(std::string_view word, std::string_view text, const std::string& origin,
                       std::string_view tier_key, const Environment& environment, TierSettings& tier) {
  const std::string key = format_text("{}.{}", tier_key, word);
  const auto field = std::ranges::find(tier_fields(), word, &TierField::name);
  if (field == tier_fields().end()) {
    const auto names =
        tier_fields() | std::views::transform(&TierField::name) | std::ranges::to<std::vector>();
    return fail_at(origin, key,
                   format_text("unknown key, not {}{}", join_words(names), did_you_mean(word, names)));
  }
  std::string path;
  if (field->limits.form == Form::Path) {
    auto expanded = read_path(text, environment);
    if (!expanded) return fail_at(origin, key, expanded.error().message);
    path = std::move(*expanded);
    text = path;
  }
  if (const auto read = field->read(text, field->limits, tier); !read) {
    return fail_at(origin, key, read.error().message);
  }
  return {};
}

Result<TierSettings> read_tier(const DocumentNode& entry, std::string_view key, std::string_view name,
                               const Environment& environment) {
  TierSettings tier;
  tier.origin = origin_at(name, entry.line);
  if (entry.kind != Kind::Map) return fail_at(tier.origin, key, kTierForms);
  bool has_kind = false;
  for (const auto& [word, line, value] : entry.members) {
    const std::string origin = origin_at(name, line);
    if (value.kind != Kind::Scalar)
      return fail_at(origin, format_text("{}.{}", key, word), "needs one value");
    FOREBAY_TRY(read_tier_field(word, value.text, origin, key, environment, tier));
    has_kind = has_kind || word == "kind";
  }
  if (!has_kind)
    return fail_at(tier.origin, key, format_text("has no kind: {}", join_words(kWords<TierKind>)));
  if (tier.path.empty()) return fail_at(tier.origin, key, "has no path");
  return tier;
}

// kind:path[:size]
Result<TierSettings> read_tier_short(std::string_view text, std::string_view key, const std::string& origin,
                                     const Environment& environment) {
  TierSettings tier;
  tier.origin = origin;
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) {
    return fail_at(origin, key, format_text("\"{}\" is not kind:path or kind:path:size", text));
  }
  std::string_view path = text.substr(first + 1);
  // A colon inside ${NAME:-otherwise} is none of ours.
  const std::size_t last = path.rfind(':');
  const std::size_t brace = path.rfind('}');
  if (last != std::string_view::npos && (brace == std::string_view::npos || last > brace)) {
    FOREBAY_TRY(read_tier_field("size", path.substr(last + 1), origin, key, environment, tier));
    path = path.substr(0, last);
  }
  FOREBAY_TRY(read_tier_field("kind", text.substr(0, first), origin, key, environment, tier));
  FOREBAY_TRY(read_tier_field("path", path, origin, key, environment, tier));
  return tier;
}

// memory, nvme, nvme2, ...
void name_tiers(std::vector<TierSettings>& tiers) {
  std::array<int, kWords<TierKind>.size()> seen{};
  for (TierSettings& tier : tiers) {
    const int number = ++seen[static_cast<std::size_t>(tier.kind)];
    if (!tier.name.empty()) continue;
    tier.name =
        number == 1 ? std::string(to_string(tier.kind)) : format_text("{}{}", to_string(tier.kind), number);
  }
}

Status read_patterns(const DocumentNode& node, std::string_view key, std::string_view name,
                     const Environment& environment, FileRule& rule) {
  const std::string origin = origin_at(name, node.line);
  const bool is_list = node.kind == Kind::List;
  const std::span<const DocumentNode> patterns = is_list ? std::span(node.items) : std::span(&node, 1);
  for (const DocumentNode& pattern : patterns) {
    if (pattern.kind != Kind::Scalar || pattern.text.empty()) {
      return fail_at(origin, key, "needs a pattern, or a list of patterns, such as \"*.h5\" or /scratch/**");
    }
    auto expanded = environment.expand(pattern.text);
    if (!expanded) return fail_at(origin, key, expanded.error().message);
    if (const auto why = why_no_pattern(*expanded); !why.empty()) return fail_at(origin, key, why);
    rule.patterns.push_back(std::move(*expanded));
  }
  return {};
}

// The members of a rule, or of a section in it, whose setting names begin with `prefix`.
Status read_rule_section(const DocumentNode& section, const std::string& prefix, const std::string& rule_key,
                         std::string_view name, const Environment& environment, FileRule& rule) {
  for (const auto& [word, line, value] : section.members) {
    const std::string setting = prefix + word;
    const std::string origin = origin_at(name, line);
    const std::string key = format_text("{}.{}", rule_key, setting);
    if (setting == kMatchKey) {
      FOREBAY_TRY(read_patterns(value, key, name, environment, rule));
      continue;
    }
    if (value.kind == Kind::Map && prefix.empty()) {
      FOREBAY_TRY(read_rule_section(value, setting + ".", rule_key, name, environment, rule));
      continue;
    }
    const Setting* const row = find_setting(setting);
    if (row == nullptr || !row->per_file) {
      auto unknown = fail_unknown("", setting, true);
      return fail_at(origin, rule_key, unknown.error().message);
    }
    if (value.kind != Kind::Scalar) {
      return fail_at(origin, key, format_text("needs one value: {}", row->allowed(row->limits)));
    }
    if (std::ranges::contains(rule.given, row->name))
      return fail_at(origin, key, "given before in this rule");
    FOREBAY_TRY(read_row(*row, value.text, environment, origin, key, {nullptr, &rule.values}));
    rule.given.push_back(row->name);
  }
  return {};
}

// A pattern as an item of a text with colons.
std::string with_escaped_colons(std::string_view pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == ':') text += '\\';
    text += pattern[i];
    if (pattern[i] == '\\' && i + 1 < pattern.size()) text += pattern[++i];
  }
  return text;
}

}  // namespace

Status read_list(const Setting& row, const DocumentNode& node, std::string_view name,
                 const Environment& environment, Settings& settings) {
  const bool paths = row.limits.form == Form::Paths;
  std::string text;
  if (node.kind == Kind::List) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const DocumentNode& item = node.items[i];
      const std::string key = format_text("{}[{}]", row.name, i);
      const std::string origin = origin_at(name, item.line);
      const std::string_view one = paths ? "an absolute path" : "a pattern such as \"*.h5\" or /scratch/**";
      if (item.kind != Kind::Scalar || item.text.empty())
        return fail_at(origin, key, format_text("needs {}", one));
      auto expanded = environment.expand(item.text);
      if (!expanded) return fail_at(origin, key, expanded.error().message);
      if (paths && expanded->contains(':'))
        return fail_at(origin, key, format_text("\"{}\" holds a colon, which separates paths", *expanded));
      const std::string escaped = paths ? std::move(*expanded) : with_escaped_colons(*expanded);
      if (auto read = row.read(escaped, row.limits, {&settings, nullptr}); !read)
        return fail_at(origin, key, read.error().message);
      text += (text.empty() ? "" : ":") + escaped;
    }
  } else if (node.kind == Kind::Scalar) {
    return read_row(row, node.text, environment, origin_at(name, node.line), row.name, {&settings, nullptr});
  } else if (node.kind == Kind::Map) {
    return fail_at(origin_at(name, node.line), row.name,
                   format_text("needs a list: {}", row.allowed(row.limits)));
  }
  return row.read(text, row.limits, {&settings, nullptr});
}

Status read_tiers(const DocumentNode& node, std::string_view name, const Environment& environment,
                  Settings& settings) {
  std::vector<TierSettings> tiers;
  const auto key = [&] { return format_text("{}[{}]", kTiersKey, tiers.size()); };
  if (node.kind == Kind::Scalar) {
    for (const auto part : node.text | std::views::split(',')) {
      FOREBAY_ASSIGN(TierSettings tier, read_tier_short(trim(std::string_view(part)), key(),
                                                        origin_at(name, node.line), environment));
      tiers.push_back(std::move(tier));
    }
  } else if (node.kind == Kind::List && !node.items.empty()) {
    for (const DocumentNode& entry : node.items) {
      FOREBAY_ASSIGN(TierSettings tier, read_tier(entry, key(), name, environment));
      tiers.push_back(std::move(tier));
    }
  } else {
    return fail_at(origin_at(name, node.line), kTiersKey, kTierForms);
  }
  name_tiers(tiers);
  settings.tiers = std::move(tiers);
  return {};
}

Status read_rules(const DocumentNode& node, std::string_view name, const Environment& environment,
                  Settings& settings) {
  if (node.kind != Kind::List) return fail_at(origin_at(name, node.line), kRulesKey, kRuleForms);
  std::vector<FileRule> rules;
  for (const DocumentNode& entry : node.items) {
    const std::string key = format_text("{}[{}]", kRulesKey, rules.size());
    FileRule rule;
    rule.origin = origin_at(name, entry.line);
    if (entry.kind != Kind::Map) return fail_at(rule.origin, key, kRuleForms);
    FOREBAY_TRY(read_rule_section(entry, "", key, name, environment, rule));
    if (rule.patterns.empty()) return fail_at(rule.origin, key, "has no match: the files it is for");
    if (rule.given.empty()) return fail_at(rule.origin, key, "sets nothing for the files it matches");
    rules.push_back(std::move(rule));
  }
  settings.rules = std::move(rules);
  return {};
}

}  // namespace forebay
