// From what was asked for to what this machine gives: the step between load and use.
//
// Who attaches to a buffer that exists needs `resolve_paths` only: the sizes were settled by whoever made it,
// and the free space they were a share of is no longer the same. Who makes one needs `resolve`.
#pragma once

#include "base/error.hpp"
#include "config/environment.hpp"
#include "config/machine.hpp"
#include "config/settings.hpp"

namespace forebay {

// buffer.directory and profile.file are set. Beside a home that is reached through a link stands its real
// path.
Settings resolve_paths(Settings settings, const Machine& machine = Machine::names_only());

// As resolve_paths. Also: there is at least one tier, each one's directory exists and can be written to, its
// size is in bytes, a multiple of the bucket size and at least 8 buckets; its bandwidth and latency are those
// given, else those of the profile file, if any; limits.fragment_memory is in bytes. Nothing contradicts
// (validate).
//
// With no tiers given: memory in /dev/shm and, on the first of $TMPDIR, /tmp and /var/tmp that is not itself
// in memory, nvme. One of the two is left out where it cannot be had.
//
// Sizes are not held against the free space, which may change at any time: whoever allocates finds out.
Result<Settings> resolve(Settings settings, const Environment& environment = Environment::current(),
                         const Machine& machine = Machine::current());

}  // namespace forebay
