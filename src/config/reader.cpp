#include "config/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/format.hpp"
#include "config/nearest.hpp"

namespace forebay {
namespace {

bool is_section(std::string_view key) {
  return std::ranges::any_of(settings_table(), [&](const Setting& row) {
    return row.name.starts_with(key) && row.name.substr(key.size()).starts_with('.');
  });
}

class YamlReader {
 public:
  YamlReader(std::string_view name, const Environment& environment, Settings& settings)
      : name_(name), environment_(environment), settings_(settings) {}

  // The members of a map whose full names begin with `prefix`.
  Status read_section(const DocumentNode& section, const std::string& prefix) {
    for (const auto& [word, line, value] : section.members) {
      const std::string key = prefix + word;
      const auto [twin, first] = seen_.emplace(key, line);
      if (!first && !is_section(key)) {
        return fail_at(origin_at(name_, line), key, format_text("given before, in line {}", twin->second));
      }
      FOREBAY_TRY(read_member(key, line, value));
    }
    return {};
  }

 private:
  Status read_member(const std::string& key, int line, const DocumentNode& value) {
    const std::string origin = origin_at(name_, line);
    if (key == kTiersKey || key == kRulesKey) {
      settings_.origins.insert_or_assign(key, origin);
      return key == kTiersKey ? read_tiers(value, name_, environment_, settings_)
                              : read_rules(value, name_, environment_, settings_);
    }
    if (const Setting* const row = find_setting(key)) {
      settings_.origins.insert_or_assign(key, origin);
      if (is_list(*row)) return read_list(*row, value, name_, environment_, settings_);
      if (value.kind != DocumentNode::Kind::Scalar) {
        return fail_at(origin, key, format_text("needs one value: {}", row->allowed(row->limits)));
      }
      return read_row(*row, value.text, environment_, origin, key, {&settings_, &settings_.file_defaults});
    }
    if (!is_section(key)) return fail_unknown(origin, key, false);
    if (value.kind == DocumentNode::Kind::Nothing) return {};
    if (value.kind != DocumentNode::Kind::Map)
      return fail_at(origin, key, "needs settings below it, as key: value");
    return read_section(value, key + ".");
  }

  std::string_view name_;
  const Environment& environment_;
  Settings& settings_;
  std::map<std::string, int> seen_;  // full name and line
};

}  // namespace

std::unexpected<Error> fail_at(std::string_view origin, std::string_view key, std::string_view words) {
  return fail(EINVAL, origin.empty() ? format_text("{}: {}", key, words)
                                     : format_text("{}: {}: {}", origin, key, words));
}

std::string origin_at(std::string_view name, int line) {
  return line == 0 ? std::string(name) : format_text("{}:{}", name, line);
}

std::unexpected<Error> fail_unknown(std::string_view origin, std::string_view key, bool per_file) {
  std::vector<std::string_view> names;
  for (const Setting& row : settings_table()) {
    if (per_file && !row.per_file) continue;
    names.push_back(row.name);
    const std::string_view section = row.name.substr(0, row.name.find('.'));
    if (section != row.name) names.push_back(section);
  }
  if (!per_file) names.insert(names.end(), {kTiersKey, kRulesKey});
  const std::string words =
      find_setting(key) != nullptr ? "is not a setting of single files" : "unknown setting";
  return fail_at(origin, key, words + did_you_mean(key, names));
}

Result<std::string> read_path(std::string_view text, const Environment& environment) {
  FOREBAY_ASSIGN(const std::string expanded, environment.expand(text));
  return normal_path(expanded);
}

Status read_row(const Setting& row, std::string_view text, const Environment& environment,
                const std::string& origin, std::string_view key, Target target) {
  std::string given;
  if (row.limits.form == Form::Path || is_list(row)) {
    auto expanded = row.limits.form == Form::Path ? read_path(text, environment) : environment.expand(text);
    if (!expanded) return fail_at(origin, key, expanded.error().message);
    given = std::move(*expanded);
    text = given;
  }
  if (const auto read = row.read(text, row.limits, target); !read)
    return fail_at(origin, key, read.error().message);
  return {};
}

Status read_yaml(std::string_view text, std::string_view name, const Environment& environment,
                 Settings& settings) {
  FOREBAY_ASSIGN(const DocumentNode document, parse_document(text, name));
  if (document.kind == DocumentNode::Kind::Nothing) return {};
  if (document.kind != DocumentNode::Kind::Map) {
    return fail(EINVAL,
                format_text("{}: settings are written as key: value", origin_at(name, document.line)));
  }
  return YamlReader(name, environment, settings).read_section(document, "");
}

Status read_setting(std::string_view key, std::string_view text, const std::string& origin,
                    const Environment& environment, Settings& settings) {
  if (key == kTiersKey || key == kRulesKey) {
    DocumentNode node(DocumentNode::Kind::Scalar, 0);
    node.text = text;
    if (text.starts_with('[')) {
      FOREBAY_ASSIGN(node, parse_document(text, origin));
    }
    settings.origins.insert_or_assign(std::string(key), origin);
    return key == kTiersKey ? read_tiers(node, origin, environment, settings)
                            : read_rules(node, origin, environment, settings);
  }
  const Setting* const row = find_setting(key);
  if (row == nullptr) return fail_unknown(origin, key, false);
  settings.origins.insert_or_assign(std::string(key), origin);
  return read_row(*row, text, environment, origin, key, {&settings, &settings.file_defaults});
}

}  // namespace forebay
