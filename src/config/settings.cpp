#include "config/settings.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "config/table.hpp"

namespace forebay {

FileSettings Settings::for_path(std::string_view path) const {
  FileSettings chosen = file_defaults;
  std::vector<std::string_view> decided;
  for (const FileRule& rule : rules) {
    if (std::ranges::none_of(rule.patterns, [&](const auto& pattern) { return glob_match(pattern, path); })) {
      continue;
    }
    for (const std::string_view name : rule.given) {
      if (std::ranges::contains(decided, name)) continue;
      if (const Setting* setting = find_setting(name); setting != nullptr && setting->per_file) {
        setting->copy(rule.values, chosen);
        decided.push_back(name);
      }
    }
  }
  chosen.readahead_min = std::min(chosen.readahead_min, chosen.readahead_max);
  return chosen;
}

FileSettings Settings::for_file(std::string_view path, std::uint64_t size) const {
  FileSettings file = for_path(path);
  if (choice.of_name(path) != FileVerdict::Chosen || choice.of_size(size) != FileVerdict::Chosen)
    file.mode = Mode::Bypass;
  return file;
}

}  // namespace forebay
