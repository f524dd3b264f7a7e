#include "config/file_choice.hpp"

#include <algorithm>
#include <utility>

#include "base/glob.hpp"

namespace forebay {
namespace {

bool matches_any(const std::vector<std::string>& patterns, std::string_view path) {
  return std::ranges::any_of(patterns, [&](const auto& pattern) { return glob_match(pattern, path); });
}

}  // namespace

std::string_view reason(FileVerdict verdict) {
  switch (verdict) {
    case FileVerdict::Chosen:
      return "";
    case FileVerdict::OutsideHomes:
      return "outside of the homes";
    case FileVerdict::NotIncluded:
      return "no include pattern matches";
    case FileVerdict::Excluded:
      return "an exclude pattern matches";
    case FileVerdict::TooSmall:
      return "smaller than min_file_size";
    case FileVerdict::TooLarge:
      return "larger than max_file_size";
  }
  std::unreachable();
}

bool lies_in(std::string_view path, std::string_view directory) {
  if (!path.starts_with(directory)) return false;
  return path.size() == directory.size() || directory.ends_with('/') || path[directory.size()] == '/';
}

FileVerdict FileChoice::of_name(std::string_view path) const {
  if (!homes.empty()) {
    const bool inside = std::ranges::any_of(homes, [&](const auto& home) { return lies_in(path, home); });
    if (!inside || lies_in(path, "/proc") || lies_in(path, "/sys")) return FileVerdict::OutsideHomes;
  }
  if (matches_any(exclude, path)) return FileVerdict::Excluded;
  if (!include.empty() && !matches_any(include, path)) return FileVerdict::NotIncluded;
  return FileVerdict::Chosen;
}

FileVerdict FileChoice::of_size(std::uint64_t size) const {
  if (size != 0 && size < min_file_size) return FileVerdict::TooSmall;
  if (max_file_size != 0 && size > max_file_size) return FileVerdict::TooLarge;
  return FileVerdict::Chosen;
}

}  // namespace forebay
