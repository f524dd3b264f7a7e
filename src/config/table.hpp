// The one table of settings. The YAML file, the environment variables, the settings page and the sample all
// come from its rows.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "config/value.hpp"

namespace forebay {

// What a row reads from or writes to. Only rows of one file need `file`, only the others need `settings`.
struct Target {
  Settings* settings;
  FileSettings* file;
};
struct Source {
  const Settings* settings;
  const FileSettings* file;
};

struct Setting {
  std::string_view name;  // as in YAML, sections and key joined by dots
  std::string_view help;
  Limits limits;
  bool per_file;  // may also stand in a rule of `files`

  Status (*read)(std::string_view text, const Limits& limits, Target target);
  std::string (*write)(Source source, const Limits& limits);
  std::string (*allowed)(const Limits& limits);
  void (*copy)(const FileSettings& from, FileSettings& to);  // null unless per_file

  [[nodiscard]] std::string value(const Settings& settings) const {
    return write({&settings, &settings.file_defaults}, limits);
  }
};

// A key of one entry of `tiers`.
struct TierField {
  std::string_view name;
  std::string_view help;
  Limits limits;
  Status (*read)(std::string_view text, const Limits& limits, TierSettings& tier);
  std::string (*allowed)(const Limits& limits);
};

// In the order of the settings page: rows of one section stand together.
std::span<const Setting> settings_table();
std::span<const TierField> tier_fields();

// Null when there is no such setting.
const Setting* find_setting(std::string_view name);

// The two settings that are lists and so have no row.
inline constexpr std::string_view kTiersKey = "tiers";
inline constexpr std::string_view kRulesKey = "files";
inline constexpr std::string_view kMatchKey = "match";  // of a rule: its patterns

// "drain.write_size" is FOREBAY_DRAIN_WRITE_SIZE.
inline constexpr std::string_view kVariablePrefix = "FOREBAY_";
std::string variable_name(std::string_view setting);

}  // namespace forebay
