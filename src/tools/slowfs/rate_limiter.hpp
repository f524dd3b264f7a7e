// A bandwidth shared by everyone: bytes pass one after another, at a rate that may change while some wait.
//
// Pure accounting, no waiting and no clock of its own: the caller says what time it is. Bytes stand in one
// queue; a ticket is a position in it, due when the bytes up to that position have been carried. An idle line
// saves up no credit. Not thread-safe: guard it from outside.
#pragma once

#include <chrono>
#include <cstdint>

namespace forebay::slowfs {

class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;
  using Ticket = double;

  // Rate in bytes per second; 0 is unlimited.
  explicit RateLimiter(uint64_t rate = 0, Clock::time_point now = {})
      : rate_(static_cast<double>(rate)), last_(now) {}

  // What is already queued continues at the new rate.
  void set_rate(uint64_t rate, Clock::time_point now);

  // Queues `bytes` that arrived at `arrival`. Time the line has already accounted for does not come back: an
  // arrival in its past counts as now.
  Ticket reserve(uint64_t bytes, Clock::time_point arrival);

  // How long until the ticket is due at the present rate; 0 once it is.
  Clock::duration remaining(Ticket ticket, Clock::time_point now);

 private:
  void advance(Clock::time_point now);

  double rate_;
  double carried_ = 0;  // bytes passed so far, at most queued_
  double queued_ = 0;   // bytes ever reserved
  Clock::time_point last_;
};

}  // namespace forebay::slowfs
