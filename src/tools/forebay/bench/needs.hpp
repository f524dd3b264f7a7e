// What a workload takes, so that one that is too large for the machine is refused before it begins.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

struct Needs {
  std::uint64_t home = 0;    // bytes that one way leaves at home, before any compression
  std::uint64_t memory = 0;  // bytes that all ranks hold at once, at least
};

Needs needs_of(const Workload& workload);

struct RoomLeft {
  std::uint64_t home = 0;
  std::uint64_t memory = 0;
};

// ENOSPC with a sentence that names the workload.
Status check_room(const Workload& workload, const RoomLeft& room);

}  // namespace forebay
