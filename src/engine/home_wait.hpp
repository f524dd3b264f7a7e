// How long somebody waits for home: until a point in time, or, without one, as long as home goes on taking
// bytes of the file. Then the wait is over when nothing of it has landed for limits.home_wait, whichever
// process of the node sent it. What waits for its turn by `drain.rate` is not silence.
//
// A HomeWait belongs to one thread; Landings is thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace forebay {

struct Core;

// When this process last saw bytes of a file arrive at home. Files may share a place: that makes somebody
// wait longer, never less long.
class Landings {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  void note(std::uint32_t file, TimePoint when);
  [[nodiscard]] TimePoint last(std::uint32_t file) const;

 private:
  std::array<std::atomic<TimePoint::rep>, 256> places_{};
};

class HomeWait {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  HomeWait(const Core& core, std::uint32_t file, std::optional<TimePoint> until = std::nullopt);

  // Also looks whether home has taken something meanwhile.
  [[nodiscard]] bool over();
  // When to ask again, at the latest.
  [[nodiscard]] TimePoint look_again() const;
  // Home has answered, in a way that nobody could see in the file.
  void moved();

 private:
  [[nodiscard]] std::uint64_t mark() const;

  const Core& core_;
  const std::uint32_t file_;
  const std::optional<TimePoint> until_;
  std::uint64_t mark_;  // of what others' shipments change
  TimePoint last_;      // when something moved
};

}  // namespace forebay
