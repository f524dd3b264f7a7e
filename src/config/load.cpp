#include "config/load.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/format.hpp"
#include "config/cache_config.hpp"
#include "config/file_text.hpp"
#include "config/nearest.hpp"
#include "config/reader.hpp"
#include "config/table.hpp"
#include "config/validate.hpp"

namespace forebay {
namespace {

// Names that are no settings: the file's, and what tests and development use.
bool is_other_variable(std::string_view name) {
  return name == kConfigVariable || name.starts_with("FOREBAY_TEST_") || name.starts_with("FOREBAY_DEV_");
}

std::vector<std::string_view> all_keys() {
  std::vector<std::string_view> keys{kTiersKey, kRulesKey};
  for (const Setting& row : settings_table()) keys.push_back(row.name);
  return keys;
}

std::unexpected<Error> fail_unknown_variable(std::string_view name) {
  std::vector<std::string> variables{std::string(kConfigVariable)};
  for (const std::string_view key : all_keys()) variables.push_back(variable_name(key));
  const std::vector<std::string_view> names(variables.begin(), variables.end());
  return fail(EINVAL, format_text("{}: unknown variable{}", name, did_you_mean(name, names)));
}

// An empty variable is as good as none.
Status read_environment(const Environment& environment, Settings& settings) {
  const std::vector<std::string_view> keys = all_keys();
  for (const auto& [name, value] : environment.variables()) {
    if (!name.starts_with(kVariablePrefix) || value.empty() || is_other_variable(name)) continue;
    const auto key = std::ranges::find(keys, name, variable_name);
    if (key == keys.end()) return fail_unknown_variable(name);
    FOREBAY_TRY(read_setting(*key, value, name, environment, settings));
  }
  return {};
}

// The two kinds of files are told apart by their content.
Status read_either(std::string_view text, std::string_view name, const Environment& environment,
                   Settings& settings) {
  if (!is_cache_config(text)) return read_yaml(text, name, environment, settings);
  std::error_code failed;
  return read_cache_config(text, name, std::filesystem::current_path(failed).string(), settings);
}

struct KeyValue {
  std::string_view key;
  std::string_view value;
};

Result<KeyValue> split_override(std::string_view text, std::string_view from) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return fail(EINVAL, format_text("{}: \"{}\" is not key=value", from, text));
  return KeyValue{text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

Result<Settings> load(const LoadOptions& options, const Environment& environment) {
  Settings settings;
  const std::string file =
      options.file.empty() ? std::string(environment.get_or(kConfigVariable, "")) : options.file;
  if (!file.empty()) {
    FOREBAY_ASSIGN(const std::string text, read_text(file, "configuration file"));
    FOREBAY_TRY(read_either(text, file, environment, settings));
  }
  FOREBAY_TRY(read_environment(environment, settings));
  for (const std::string& text : options.overrides) {
    FOREBAY_ASSIGN(const KeyValue given, split_override(text, options.overrides_from));
    FOREBAY_TRY(read_setting(given.key, given.value, options.overrides_from, environment, settings));
  }
  FOREBAY_TRY(validate(settings));
  return settings;
}

Result<Settings> load_text(std::string_view text, std::string_view name, const Environment& environment) {
  Settings settings;
  FOREBAY_TRY(read_either(text, name, environment, settings));
  FOREBAY_TRY(validate(settings));
  return settings;
}

Result<FileSettings> load_file_settings(const Settings& settings, std::string_view path,
                                        std::span<const std::string> overrides, std::string_view from) {
  return override_file_settings(settings.for_path(path), settings, path, overrides, from);
}

Result<FileSettings> override_file_settings(FileSettings file, const Settings& settings,
                                            std::string_view path, std::span<const std::string> overrides,
                                            std::string_view from) {
  for (const std::string& text : overrides) {
    FOREBAY_ASSIGN(const KeyValue given, split_override(text, from));
    const Setting* const row = find_setting(given.key);
    if (row == nullptr || !row->per_file) return fail_unknown(from, given.key, true);
    FOREBAY_TRY(read_row(*row, given.value, Environment{}, std::string(from), given.key, {nullptr, &file}));
  }
  file.readahead_min = std::min(file.readahead_min, file.readahead_max);
  FOREBAY_TRY(validate_file(file, settings, from, path));
  return file;
}

}  // namespace forebay
