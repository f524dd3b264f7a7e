// Everything that can be configured, in natural types, with its default.
//
// Settings is a plain value: `load` (config/load.hpp) fills it from file, environment and overrides without
// looking at the machine; `resolve` (config/resolve.hpp) then turns what depends on the machine (automatic
// and relative sizes, default directories) into figures. Whoever stores bytes wants a resolved one. Names,
// ranges and help of each setting are in config/table.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "config/choices.hpp"
#include "config/file_choice.hpp"

namespace forebay {

inline constexpr std::size_t kMaxTiers = 8;
inline constexpr std::uint64_t kMinTierBuckets = 8;

struct BufferSettings {
  std::string name = "default";
  std::string directory{};  // resolved: /dev/shm/forebay-<uid> unless given
  std::uint64_t bucket_size = 256 * kKiB;
  std::uint32_t max_files = 0;  // 0: the engine chooses
  std::uint32_t max_processes = 256;
};

struct TierSettings {
  TierKind kind = TierKind::Memory;
  std::string path{};  // an existing directory
  // Unique among the tiers. Unless given: the kind, with a number from the second of its kind on.
  std::string name{};
  Amount size{};                             // resolved: Bytes
  std::optional<std::uint64_t> bandwidth{};  // bytes per second; measured by `forebay profile` unless given
  std::optional<std::chrono::nanoseconds> latency{};
  std::string origin{};  // where it was written down, for messages
  bool at_most = false;  // where there is less room than `size`, what there is will do
};

// What may differ from file to file.
struct FileSettings {
  Mode mode = Mode::Async;
  Durability durability = Durability::Process;
  OnClose on_close = OnClose::Home;
  OnFlush on_flush = OnFlush::Home;
  AfterClose after_close = AfterClose::Keep;
  Placement placement = Placement::MaxBandwidth;
  Eviction eviction = Eviction::Lru;
  Admission admission_read = Admission::Auto;
  Admission admission_write = Admission::Auto;
  std::uint64_t readahead_min = 256 * kKiB;
  std::uint64_t readahead_max = 8 * kMiB;  // 0: no read-ahead
  PrefetchAtOpen prefetch_at_open = PrefetchAtOpen::None;
  DrainTrigger drain_trigger = DrainTrigger::Write;
  std::string tier{};  // name of the only tier to use; empty: the placement policy chooses
  bool pin = false;
  std::uint64_t reserve_size = 0;
  ReserveKind reserve_kind = ReserveKind::Soft;

  // Not a setting but what a door knows: while it has the file open for writing, its program also writes home
  // in ways that the buffer does not see. So nobody on the node keeps what it reads there.
  bool written_past = false;

  bool operator==(const FileSettings&) const = default;
};

// Settings for the files whose path matches one of the patterns (see base/glob.hpp).
struct FileRule {
  std::vector<std::string> patterns{};
  FileSettings values{};
  std::vector<std::string_view> given{};  // names of the settings in `values` that this rule sets
  std::string origin{};
};

struct DrainSettings {
  std::chrono::nanoseconds delay = std::chrono::milliseconds(200);
  std::chrono::nanoseconds period = std::chrono::seconds(5);
  std::uint64_t rate = 0;  // bytes per second; 0: no cap
  std::uint32_t in_flight = 8;
  std::uint64_t write_size = 8 * kMiB;
  std::string program{};  // empty: `forebay` beside the library, or in PATH
};

struct PressureSettings {
  std::chrono::nanoseconds wait = std::chrono::seconds(10);
  std::uint32_t low_water = 10;   // percent of a tier that is free
  std::uint32_t high_water = 25;  // percent, at least low_water
};

struct LimitSettings {
  std::chrono::nanoseconds lock_wait = std::chrono::seconds(10);
  std::chrono::nanoseconds home_wait = std::chrono::seconds(120);
  std::uint32_t open_files = 4096;
  std::uint32_t descriptors = 256;
  Amount fragment_memory = Amount::of_percent(5);  // of the memory tiers; resolved: Bytes
};

struct JournalSettings {
  std::uint64_t size = 256 * kMiB;
};

struct LogSettings {
  LogLevel level = LogLevel::Warn;
  std::string file{};  // empty: standard error
};

struct ProfileSettings {
  std::string file{};  // resolved: <buffer.directory>/profile.yaml unless given
};

struct Settings {
  BufferSettings buffer{};
  FileChoice choice{};
  std::vector<TierSettings> tiers{};  // fastest first; empty until resolved: the default two
  FileSettings file_defaults{};
  std::vector<FileRule> rules{};  // in the order written
  DrainSettings drain{};
  PressureSettings pressure{};
  LimitSettings limits{};
  JournalSettings journal{};
  LogSettings log{};
  ProfileSettings profile{};

  // Where each setting that was given comes from ("/etc/forebay.yaml:12", "FOREBAY_MODE"), by its name.
  std::map<std::string, std::string, std::less<>> origins{};

  // What was taken otherwise than written down, one sentence each with its origin, for the log.
  std::vector<std::string> remarks{};

  // The settings of the file at absolute path `path`: for each setting the first rule that matches and gives
  // it, else the default.
  [[nodiscard]] FileSettings for_path(std::string_view path) const;

  // The same for a file that is opened with `size` bytes: `bypass` unless it is chosen.
  [[nodiscard]] FileSettings for_file(std::string_view path, std::uint64_t size) const;
};

}  // namespace forebay
