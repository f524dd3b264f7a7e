// What a buffer holds, seen from outside.
//
// Nothing is joined, locked, mapped or changed, so that it works on a buffer that others use, that is full,
// or whose content is damaged: every index is checked, and what makes no sense is counted as damage. The
// price: the figures of a buffer in use are not those of one instant.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/control.hpp"
#include "engine/layout.hpp"
#include "engine/passed.hpp"

namespace forebay {

struct TierStatus {
  std::string name;
  TierKind kind = TierKind::Memory;
  std::string directory;
  std::uint64_t size = 0;      // bytes it may have
  std::uint64_t reserved = 0;  // bytes it has storage for
  std::uint64_t used = 0;      // bytes of buckets in use
  std::uint64_t unsaved = 0;
  int failed = 0;  // errno of the failure that keeps it from growing or being written to; 0 if none
};

struct ProcessStatus {
  int pid = 0;
  std::string command;
  bool alive = false;  // false: it died attached, and nobody has put right what it left yet
  std::chrono::nanoseconds attached_for{};
  std::uint32_t open_files = 0;
};

struct FileStatus {
  std::uint32_t number = 0;
  std::string path;  // empty: its record is damaged
  std::uint64_t size = 0;
  std::uint64_t buffered = 0;            // bytes that need not be read from home
  std::uint64_t unsaved = 0;             // of these, bytes that are not home yet
  std::uint64_t under_way = 0;           // of these, bytes that are being written home
  std::vector<std::uint64_t> by_tier{};  // buffered bytes
  std::optional<std::chrono::nanoseconds> oldest_unsaved{};
  int error = 0;  // errno of the last attempt to carry it home; 0 if that succeeded
  std::chrono::nanoseconds error_age{};
  std::uint32_t damaged = 0;           // buckets
  std::vector<std::size_t> openers{};  // into BufferStatus::processes
  bool carried = false;                // a living process writes it, and carries it home
  bool scratch = false;                // never goes home
  bool truncating = false;
};

struct BufferStatus {
  std::string name;
  std::string directory;
  ControlFinding finding = ControlFinding::kMissing;
  std::string why;  // words, unless kUsable; all below is empty then

  std::chrono::nanoseconds age{};
  std::uint32_t bucket_size = 0;
  std::vector<TierStatus> tiers;
  std::vector<ProcessStatus> processes;
  std::vector<FileStatus> files;  // those with something to say, most unsaved bytes first
  std::uint32_t known_files = 0;
  std::uint64_t stray_unsaved = 0;  // unsaved bytes whose file is not known any more
  std::uint32_t damaged = 0;        // buckets, in known files or not
  std::unique_ptr<Counters> totals;
  std::vector<Passed> passed;  // what doors left to home

  [[nodiscard]] std::uint64_t buffered() const;
  // Scratch files left out: their bytes have nowhere to go.
  [[nodiscard]] std::uint64_t unsaved() const;
  [[nodiscard]] bool has_living_opener(const FileStatus& file) const;
  [[nodiscard]] bool anybody_alive() const;
};

// The buffer that the settings (loaded, not resolved) name. ENOENT: there is none. A control file that cannot
// be used is no error here: `finding` and `why` say what is wrong.
Result<BufferStatus> look_at_buffer(const Settings& settings);

// The names of the user's buffers below buffer.directory, in order; none if there is no such directory.
Result<std::vector<std::string>> buffer_names(const Settings& settings);

// Every counter with its name.
struct NamedCounter {
  std::string_view name;
  Wide Counters::* member;
};
extern const std::array<NamedCounter, kCounterCount> kCounterNames;

}  // namespace forebay
