#include "tools/slowfs/rate_limiter.hpp"

#include <algorithm>
#include <cmath>

namespace forebay::slowfs {

void RateLimiter::advance(Clock::time_point now) {
  if (now <= last_) return;
  const double seconds = std::chrono::duration<double>(now - last_).count();
  carried_ = rate_ == 0 ? queued_ : std::min(queued_, carried_ + rate_ * seconds);
  last_ = now;
}

void RateLimiter::set_rate(uint64_t rate, Clock::time_point now) {
  advance(now);
  if (rate_ == 0) carried_ = queued_;
  rate_ = static_cast<double>(rate);
}

RateLimiter::Ticket RateLimiter::reserve(uint64_t bytes, Clock::time_point arrival) {
  advance(arrival);
  return queued_ += static_cast<double>(bytes);
}

RateLimiter::Clock::duration RateLimiter::remaining(Ticket ticket, Clock::time_point now) {
  advance(now);
  if (rate_ == 0 || carried_ >= ticket) return {};
  // Rounded up, so that a caller who sleeps as long as told does not find a remainder below a tick.
  const double nanoseconds = std::ceil((ticket - carried_) / rate_ * 1e9);
  constexpr double kLongest = 1e18;
  return std::chrono::nanoseconds(static_cast<int64_t>(std::min(nanoseconds, kLongest)));
}

}  // namespace forebay::slowfs
