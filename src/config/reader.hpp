// Puts values into Settings from wherever they were written.
//
// `origin` says where a text stands ("forebay.yaml:3", "FOREBAY_MODE"); every error begins with it. Inside a
// YAML text, `name` plus the line makes the origin.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "config/document.hpp"
#include "config/environment.hpp"
#include "config/settings.hpp"
#include "config/table.hpp"

namespace forebay {

[[nodiscard]] std::unexpected<Error> fail_at(std::string_view origin, std::string_view key,
                                             std::string_view words);

// "forebay.yaml:3"; the name alone for line 0, of a text that has no lines.
std::string origin_at(std::string_view name, int line);

// An unknown key: suggests one of the names settings have.
[[nodiscard]] std::unexpected<Error> fail_unknown(std::string_view origin, std::string_view key,
                                                  bool per_file);

// Reads one value of a row; variables in paths are expanded and paths put in normal form.
Status read_row(const Setting& row, std::string_view text, const Environment& environment,
                const std::string& origin, std::string_view key, Target target);

// A whole configuration file.
Status read_yaml(std::string_view text, std::string_view name, const Environment& environment,
                 Settings& settings);

// One setting by name; lists in their short form (tiers only) or in YAML's flow form.
Status read_setting(std::string_view key, std::string_view text, const std::string& origin,
                    const Environment& environment, Settings& settings);

// The two lists of entries (reader_lists.cpp). Their entries take the place of what an earlier source gave.
Status read_tiers(const DocumentNode& node, std::string_view name, const Environment& environment,
                  Settings& settings);
Status read_rules(const DocumentNode& node, std::string_view name, const Environment& environment,
                  Settings& settings);

// A setting that is a list of texts: a YAML list of them, or one text with colons (config/value.hpp).
inline bool is_list(const Setting& row) {
  return row.limits.form == Form::Paths || row.limits.form == Form::Patterns;
}
Status read_list(const Setting& row, const DocumentNode& node, std::string_view name,
                 const Environment& environment, Settings& settings);

// `text` with variables expanded, without "." and ".." and a slash at the end. Empty stays empty.
Result<std::string> read_path(std::string_view text, const Environment& environment);

}  // namespace forebay
