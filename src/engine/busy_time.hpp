// How long at least one thread of this process was at something: calls beside each other count once.
#pragma once

#include <mutex>

#include "engine/control.hpp"
#include "engine/layout.hpp"

namespace forebay {

// Thread-safe.
class BusyTime {
 public:
  void begin(const Control& control) {
    const std::scoped_lock lock(mutex_);
    if (calls_++ == 0) since_ns_ = control.nanoseconds();
  }
  void end(const Control& control, Wide& total_ns) {
    const std::scoped_lock lock(mutex_);
    if (--calls_ == 0) total_ns.fetch_add(control.nanoseconds() - since_ns_, std::memory_order_relaxed);
  }

 private:
  std::mutex mutex_;
  unsigned calls_ = 0;          // guarded by mutex_
  std::uint64_t since_ns_ = 0;  // guarded by mutex_
};

// One call, from construction to destruction.
class BusyCall {
 public:
  BusyCall(BusyTime& time, const Control& control, Wide& total_ns)
      : time_(time), control_(control), total_ns_(total_ns) {
    time_.begin(control_);
  }
  BusyCall(const BusyCall&) = delete;
  BusyCall& operator=(const BusyCall&) = delete;
  ~BusyCall() { time_.end(control_, total_ns_); }

 private:
  BusyTime& time_;
  const Control& control_;
  Wide& total_ns_;
};

}  // namespace forebay
