// Huge pages for files in memory, without the administrator's help.
//
// A machine whose tmpfs is not mounted with `huge=` has small pages only, and each of them costs a fault and
// a place in the processor's translation cache. The kernel collapses small pages into a huge one on request
// whatever the mount says (Linux 6.1). All of it is best effort: where it does not work, small pages stay.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "os/mapping.hpp"

namespace forebay {

inline constexpr std::uint64_t kHugePage = 2u << 20;

// A shared mapping whose addresses suit huge pages: an offset of the file and its address agree modulo
// kHugePage.
Result<Mapping> map_for_huge_pages(int fd, std::size_t size, const std::string& name, int flags = MAP_SHARED);

// Puts huge pages into [from, to) of a file in memory, which must be a hole, reaches to the file's end at
// most and is mapped at `start`. Costs less than reserving the same storage in small pages; gives up when it
// does not, or when storage is short. Reserve the storage afterwards in any case: what lies there already is
// left alone. Returns where the last of them ends; `from` if there is none.
std::uint64_t put_huge_pages(int fd, std::byte* start, std::uint64_t from, std::uint64_t to);

}  // namespace forebay
