// What the files of a journal directory are called, and how they appear in it at once and for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "os/fd.hpp"

namespace forebay {

inline constexpr std::string_view kJournalPrefix =
    "journal-";  // and 16 hexadecimal digits: whole, has or had an owner
inline constexpr std::string_view kFormingPrefix = "forming-";  // not whole yet: means nothing
inline constexpr std::string_view kDamagedPrefix =
    "damaged-";  // replayed as far as it could be; kept for people
inline constexpr auto kReplayLockName = "replay.lock";

Result<std::uint64_t> random_id();
std::string hexadecimal(std::uint64_t value);

Result<std::vector<std::string>> list_names(const Fd& directory);

// Makes the names in a directory survive power loss.
Status sync_directory(const Fd& directory);

// EEXIST when `to` is there already.
Status rename_if_new(const Fd& directory, const std::string& from, const std::string& to);

// A new file `name` with this content that is there either whole and for good or not at all. If somebody else
// was first, theirs stays.
Status publish_file(const Fd& directory, const std::string& name, std::span<const std::byte> content);

}  // namespace forebay
