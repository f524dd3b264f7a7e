// One line per event, to standard error or to a file: `forebay[pid] level: text`.
//
// Each line is one write(2), so lines of several threads and processes never mix. Any thread may log at any
// time, before and after main too: the state is a few atomics with no destructor. Nothing is formatted when
// the level is off.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <format>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"

namespace forebay {

enum class LogLevel : std::uint8_t { Off, Error, Warn, Info, Debug };
inline constexpr std::array<std::string_view, 5> kLogLevelNames{"off", "error", "warn", "info", "debug"};

namespace log_detail {
inline constinit std::atomic<LogLevel> threshold{LogLevel::Warn};
void write_line(LogLevel level, std::string_view text);
}  // namespace log_detail

// Lines above `level` are dropped. Warn until set.
inline void set_log_level(LogLevel level) { log_detail::threshold.store(level, std::memory_order_relaxed); }

// Append to `path` (created 0600) from now on; empty means standard error. On failure the old target stays.
Status set_log_file(const std::string& path);

inline bool log_enabled(LogLevel level) {
  return level <= log_detail::threshold.load(std::memory_order_relaxed);
}

template <class... Args>
void log(LogLevel level, std::format_string<Args...> format, Args&&... args) {
  if (level != LogLevel::Off && log_enabled(level)) {
    log_detail::write_line(level, format_text(format, std::forward<Args>(args)...));
  }
}

template <class... Args>
void log_error(std::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Error, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warn(std::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Warn, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(std::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Info, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_debug(std::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Debug, format, std::forward<Args>(args)...);
}

}  // namespace forebay
