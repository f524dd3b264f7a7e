// Any text as configuration file, as overrides line by line and as profile: it is refused in words or gives
// settings that hold their limits and read back as themselves.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/log.hpp"
#include "config/load.hpp"
#include "config/profile.hpp"
#include "config/resolve.hpp"
#include "config/table.hpp"

namespace {

using namespace forebay;

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

const Machine& made_up_machine() {
  static const auto* const kMachine =
      new Machine{.memory = 8 * kGiB, .user = 1000, .space = [](const std::string&) -> Result<Space> {
                    return Space{.free = 4 * kGiB, .in_memory = false};
                  }};
  return *kMachine;
}

void check_settings(const Settings& settings) {
  for (const Setting& row : settings_table()) {
    Settings again;
    const std::string value = row.value(settings);
    require(row.read(value, row.limits, {&again, &again.file_defaults}).has_value(), row.name);
    require(row.value(again) == value, row.name);
  }
  for (const FileRule& rule : settings.rules) {
    require(!rule.patterns.empty() && !rule.given.empty(), "a rule matches and sets something");
  }
  const FileSettings file = settings.for_path("/scratch/run 1/checkpoint-0001.h5");
  require(file.readahead_min <= file.readahead_max, "read-ahead begins below its maximum");

  const auto resolved = resolve(settings, Environment{}, made_up_machine());
  if (!resolved) return require(!resolved.error().message.empty(), "an error has words");
  require(!resolved->tiers.empty() && resolved->tiers.size() <= kMaxTiers, "number of tiers");
  for (const TierSettings& tier : resolved->tiers) {
    require(tier.size.is_bytes() && tier.size.bytes >= kMinTierBuckets * settings.buffer.bucket_size,
            "tier size");
    require(tier.path.starts_with('/') && !tier.name.empty(), "tier path and name");
  }
}

void check(const Result<Settings>& settings) {
  if (settings) return check_settings(*settings);
  require(settings.error().code != 0 && !settings.error().message.empty(), "an error has code and words");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_log_level(LogLevel::Off);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(load_text(text, "f.yaml", Environment({{"HOME", "/root"}})));

  LoadOptions options;
  for (std::size_t begin = 0; begin < text.size() && options.overrides.size() < 64;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    options.overrides.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  check(load(options, Environment{}));

  if (const auto profile = parse_profile(text, "p.yaml")) {
    require(parse_profile(format_profile(*profile), "p.yaml").has_value(), "a profile reads back");
  }
  return 0;
}
