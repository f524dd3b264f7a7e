// The buffers this process is a member of, for the doors that a program did not write itself: HDF5, MPI-IO,
// POSIX. Doors that mean the same configuration share one membership.
//
// Thread-safe. A forked child starts with none and joins by itself when it needs one: what its parent got
// from join() must not be touched there. Nothing here has a destructor that runs at exit: a door's host may
// still write then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/buffer.hpp"

namespace forebay {

// What tells one membership from another.
struct Membership {
  std::string config{};                  // a YAML file; empty: the one the environment names, or none
  std::vector<std::string> overrides{};  // "key=value"
  std::string overrides_from = "options";

  bool operator==(const Membership&) const = default;
};

// The buffer that `wanted` describes, attached at first use. Valid until leave_all(), in this process only.
Result<Buffer*> join(const Membership& wanted);

// The same where this process is attached already; else null, and nothing is made.
[[nodiscard]] Buffer* joined(const Membership& wanted);

// Changes in a forked child.
[[nodiscard]] std::uint32_t fork_generation();

// Leaves all buffers when this process's bytes are home. Files that are still open answer ENOTCONN.
// An error says that bytes stayed behind in a buffer.
Status leave_all();

}  // namespace forebay
