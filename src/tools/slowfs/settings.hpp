// What makes a slowfs slow or faulty, as text: `key=value` lines, the same on the command line
// (--write-bandwidth 200MB) and in the control file (write_bandwidth=200MB).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace forebay::slowfs {

enum class HangScope { None, Writes, All };

struct Settings {
  using Clock = std::chrono::steady_clock;

  uint64_t read_bandwidth = 0;  // bytes per second, 0 for unlimited
  uint64_t write_bandwidth = 0;
  std::chrono::nanoseconds latency{0};
  uint64_t capacity = 0;  // bytes, 0 for what the source has
  bool read_only = false;
  bool sync_source = false;
  HangScope hang = HangScope::None;
  Clock::time_point hang_until = Clock::time_point::max();
  // errno values, 0 for none
  int fail_write = 0;
  int fail_read = 0;
  int fail_fsync = 0;
  int fail_open = 0;
  int fail_close = 0;
  uint64_t writes_until_failure = 0;  // 1: the next write fails, once; 0: none will
  int fail_nth_write = 0;
};

struct SettingHelp {
  std::string_view key;
  std::string_view value;
  std::string_view meaning;
};

std::span<const SettingHelp> settings_help();

// Applies one setting. Times in it count from `now`.
Status apply(Settings& settings, std::string_view key, std::string_view value,
             Settings::Clock::time_point now);

// The present values as lines that `apply` understands.
std::string to_text(const Settings& settings);

// "200MB" (decimal), "64KiB" (binary), "1G" (binary), "4096".
Result<uint64_t> parse_size(std::string_view text);

// "5ms", "250us", "1.5s"; a bare number is milliseconds.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace forebay::slowfs
