// How fast a place is, found out by using it as the engine would.
//
// Every figure takes about the time given. Files are without a name as soon as they are open, so that nothing
// is left behind whatever happens; what calls the operating system does not answer is waited for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "config/settings.hpp"

namespace forebay {

struct Speed {
  std::uint64_t bandwidth = 0;         // bytes per second
  std::chrono::nanoseconds latency{};  // of 4 KiB: the median
};

struct Measured {
  Speed write;
  Speed read;
};

// A tier of resolved settings, in buckets as it would be used. EBUSY: another process is measuring it.
Result<Measured> measure_tier(const TierSettings& tier, std::uint64_t bucket_size,
                              std::chrono::nanoseconds time);

// A directory at home, with the writes of a drain. What is written is synced within the time measured.
Result<Measured> measure_home(const std::string& directory, const DrainSettings& drain,
                              std::chrono::nanoseconds time);

}  // namespace forebay
