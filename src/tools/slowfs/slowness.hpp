// Holds every request up as the settings ask: hangs, faults, latency, shared bandwidth. Knows nothing of
// FUSE.
//
// A request passes in two steps: `admit` before it touches the source (waits out a hang, injects a fault),
// `pace` after it (waits until the answer is due). The source's own time is thus inside the time that the
// settings ask for, not on top of it. Thread-safe; each waiting request occupies its caller's thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tools/slowfs/rate_limiter.hpp"
#include "tools/slowfs/settings.hpp"
#include "tools/slowfs/statistics.hpp"

namespace forebay::slowfs {

class Slowness {
 public:
  using Clock = Settings::Clock;
  // True once nobody waits for the answer any more: the caller was killed or the file system is going away.
  using Abandoned = std::function<bool()>;

  explicit Slowness(const Settings& settings);

  // Applies lines of `key=value`, all or none; `reset_stats` on a line of its own resets `statistics`.
  Status configure(std::string_view lines, Statistics& statistics);
  Settings settings() const;

  // 0, or the errno value to answer. `changes`: whether the request would alter the file system.
  int admit(Kind kind, bool changes, const Abandoned& abandoned);

  // Returns when the answer to a request that arrived at `arrival` and carried `bytes` is due.
  void pace(Kind kind, uint64_t bytes, Clock::time_point arrival, const Abandoned& abandoned);

 private:
  bool hangs(Kind kind) const;
  int fault(Kind kind, bool changes);
  // Waits for `due` or a change of settings; false if the request was abandoned.
  bool wait(std::unique_lock<std::mutex>& lock, Clock::time_point due, const Abandoned& abandoned);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  Settings settings_;
  RateLimiter read_line_;
  RateLimiter write_line_;
};

}  // namespace forebay::slowfs
