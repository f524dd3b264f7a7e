#include "tools/slowfs/settings.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/format.hpp"

namespace forebay::slowfs {
namespace {

constexpr std::array kHelp = {
    SettingHelp{"read_bandwidth", "SIZE", "bytes per second for all reads together; 0: unlimited"},
    SettingHelp{"write_bandwidth", "SIZE", "bytes per second for all writes together; 0: unlimited"},
    SettingHelp{"latency", "TIME", "added to every operation; concurrent operations wait at the same time"},
    SettingHelp{"capacity", "SIZE", "writes beyond it fail with ENOSPC; 0: what the source has"},
    SettingHelp{"read_only", "yes|no", "whatever would change something fails with EROFS"},
    SettingHelp{"sync_source", "yes|no", "fsync also flushes the source, which costs what its disk costs"},
    SettingHelp{"hang", "none|writes|all[,TIME]",
                "writes and fsyncs, or all operations, wait until released or for TIME"},
    SettingHelp{"fail_write", "ERROR|none", "every write fails (EIO, ENOSPC, EDQUOT, ...)"},
    SettingHelp{"fail_nth_write", "N,ERROR|none", "the Nth write from now fails, once"},
    SettingHelp{"fail_read", "ERROR|none", "every read fails"},
    SettingHelp{"fail_fsync", "ERROR|none", "every fsync fails"},
    SettingHelp{"fail_open", "ERROR|none", "every open and create fails"},
    SettingHelp{"fail_close", "ERROR|none", "every close fails"},
};

constexpr std::array<std::pair<std::string_view, int>, 9> kErrors = {{{"none", 0},
                                                                      {"EIO", EIO},
                                                                      {"ENOSPC", ENOSPC},
                                                                      {"EDQUOT", EDQUOT},
                                                                      {"EACCES", EACCES},
                                                                      {"EROFS", EROFS},
                                                                      {"ESTALE", ESTALE},
                                                                      {"ETIMEDOUT", ETIMEDOUT},
                                                                      {"EAGAIN", EAGAIN}}};

constexpr std::array<std::pair<std::string_view, HangScope>, 3> kScopes = {
    {{"none", HangScope::None}, {"writes", HangScope::Writes}, {"all", HangScope::All}}};

constexpr std::array<std::pair<std::string_view, bool>, 2> kYesNo = {{{"yes", true}, {"no", false}}};

template <class Table>
auto parse_word(const Table& table, std::string_view text) -> Result<decltype(table[0].second)> {
  std::string known;
  for (const auto& [word, value] : table) {
    if (word == text) return value;
    known.append(known.empty() ? "" : ", ").append(word);
  }
  return fail(EINVAL, format_text("'{}' is none of {}", text, known));
}

template <class Table, class Value>
std::string_view word_of(const Table& table, Value value) {
  for (const auto& [word, known] : table) {
    if (known == value) return word;
  }
  return "?";
}

// A number and the unit after it.
Result<std::pair<double, std::string_view>> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) {
    return fail(EINVAL, format_text("'{}' does not start with a number that is 0 or more", text));
  }
  return std::pair{number, text.substr(static_cast<size_t>(end - text.data()))};
}

std::pair<std::string_view, std::string_view> split(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return {text, {}};
  return {text.substr(0, comma), text.substr(comma + 1)};
}

Status apply_hang(Settings& settings, std::string_view value, Settings::Clock::time_point now) {
  const auto [word, time] = split(value);
  FOREBAY_ASSIGN(const HangScope scope, parse_word(kScopes, word));
  auto until = Settings::Clock::time_point::max();
  if (!time.empty()) {
    FOREBAY_ASSIGN(const auto duration, parse_duration(time));
    until = now + duration;
  }
  settings.hang = scope;
  settings.hang_until = until;
  return {};
}

Status apply_nth_write(Settings& settings, std::string_view value) {
  uint64_t count = 0;
  int error = 0;
  if (value != "none") {
    const auto [number, word] = split(value);
    FOREBAY_ASSIGN(count, parse_size(number));
    FOREBAY_ASSIGN(error, parse_word(kErrors, word));
    if (count == 0 || error == 0) return fail(EINVAL, format_text("'{}' is not N,ERROR", value));
  }
  settings.writes_until_failure = count;
  settings.fail_nth_write = error;
  return {};
}

template <class T>
Status store(T& place, Result<T> value) {
  if (!value) return std::unexpected(std::move(value).error());
  place = *value;
  return {};
}

}  // namespace

std::span<const SettingHelp> settings_help() { return kHelp; }

Result<uint64_t> parse_size(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 14> kUnits = {{{"", 1},
                                                                           {"B", 1},
                                                                           {"K", 0x1p10},
                                                                           {"KiB", 0x1p10},
                                                                           {"KB", 1e3},
                                                                           {"M", 0x1p20},
                                                                           {"MiB", 0x1p20},
                                                                           {"MB", 1e6},
                                                                           {"G", 0x1p30},
                                                                           {"GiB", 0x1p30},
                                                                           {"GB", 1e9},
                                                                           {"T", 0x1p40},
                                                                           {"TiB", 0x1p40},
                                                                           {"TB", 1e12}}};
  FOREBAY_ASSIGN(const auto number, parse_number(text));
  FOREBAY_ASSIGN(const double unit, parse_word(kUnits, number.second));
  const double bytes = number.first * unit;
  if (bytes >= 0x1p63) return fail(ERANGE, format_text("'{}' is too large", text));
  return static_cast<uint64_t>(bytes);
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"", 1e6}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  FOREBAY_ASSIGN(const auto number, parse_number(text));
  FOREBAY_ASSIGN(const double unit, parse_word(kUnits, number.second));
  const double nanoseconds = number.first * unit;
  constexpr double kDay = 86400e9;
  if (nanoseconds > kDay) return fail(ERANGE, format_text("'{}' is longer than a day", text));
  return std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds));
}

Status apply(Settings& settings, std::string_view key, std::string_view value,
             Settings::Clock::time_point now) {
  const auto with_key = [&](Status status) -> Status {
    if (status) return status;
    return fail(status.error().code, format_text("{}: {}", key, status.error().message));
  };
  if (key == "read_bandwidth") return with_key(store(settings.read_bandwidth, parse_size(value)));
  if (key == "write_bandwidth") return with_key(store(settings.write_bandwidth, parse_size(value)));
  if (key == "latency") return with_key(store(settings.latency, parse_duration(value)));
  if (key == "capacity") return with_key(store(settings.capacity, parse_size(value)));
  if (key == "read_only") return with_key(store(settings.read_only, parse_word(kYesNo, value)));
  if (key == "sync_source") return with_key(store(settings.sync_source, parse_word(kYesNo, value)));
  if (key == "hang") return with_key(apply_hang(settings, value, now));
  if (key == "fail_write") return with_key(store(settings.fail_write, parse_word(kErrors, value)));
  if (key == "fail_nth_write") return with_key(apply_nth_write(settings, value));
  if (key == "fail_read") return with_key(store(settings.fail_read, parse_word(kErrors, value)));
  if (key == "fail_fsync") return with_key(store(settings.fail_fsync, parse_word(kErrors, value)));
  if (key == "fail_open") return with_key(store(settings.fail_open, parse_word(kErrors, value)));
  if (key == "fail_close") return with_key(store(settings.fail_close, parse_word(kErrors, value)));
  return fail(EINVAL, format_text("there is no setting '{}'", key));
}

std::string to_text(const Settings& settings) {
  std::string text;
  const auto line = [&](std::string_view key, const auto& value) {
    text += format_text("{}={}\n", key, value);
  };
  line("read_bandwidth", settings.read_bandwidth);
  line("write_bandwidth", settings.write_bandwidth);
  line("latency", format_text("{}ns", settings.latency.count()));
  line("capacity", settings.capacity);
  line("read_only", word_of(kYesNo, settings.read_only));
  line("sync_source", word_of(kYesNo, settings.sync_source));
  line("hang", word_of(kScopes, settings.hang));
  line("fail_write", word_of(kErrors, settings.fail_write));
  line("fail_nth_write",
       settings.writes_until_failure == 0
           ? "none"
           : format_text("{},{}", settings.writes_until_failure, word_of(kErrors, settings.fail_nth_write)));
  line("fail_read", word_of(kErrors, settings.fail_read));
  line("fail_fsync", word_of(kErrors, settings.fail_fsync));
  line("fail_open", word_of(kErrors, settings.fail_open));
  line("fail_close", word_of(kErrors, settings.fail_close));
  return text;
}

}  // namespace forebay::slowfs
