// What `forebay profile` measured on this node: written by it, read by resolve.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/choices.hpp"

namespace forebay {

struct Figures {
  std::string path;
  std::uint64_t bandwidth = 0;  // bytes per second
  std::chrono::nanoseconds latency{};
};

struct TierFigures : Figures {
  TierKind kind = TierKind::Memory;
};

struct Profile {
  std::vector<TierFigures> tiers;
  std::vector<Figures> homes;
};

// ENOENT when nothing was measured yet; EINVAL with file, line and key when it is not a profile.
Result<Profile> read_profile(const std::string& path);
Result<Profile> parse_profile(std::string_view yaml, std::string_view name);

// The text that parse_profile reads back.
std::string format_profile(const Profile& profile);

}  // namespace forebay
