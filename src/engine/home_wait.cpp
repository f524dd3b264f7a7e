#include "engine/home_wait.hpp"

#include <xxhash.h>

#include <algorithm>

#include "engine/core.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;

// How often others' shipments are looked for, within the time that may pass without any.
constexpr int kLooks = 8;

}  // namespace

void Landings::note(std::uint32_t file, TimePoint when) {
  auto& place = places_[file % places_.size()];
  const auto time = when.time_since_epoch().count();
  auto seen = place.load(std::memory_order_relaxed);
  while (seen < time && !place.compare_exchange_weak(seen, time, std::memory_order_relaxed)) {
  }
}

Landings::TimePoint Landings::last(std::uint32_t file) const {
  return TimePoint(TimePoint::duration(places_[file % places_.size()].load(std::memory_order_relaxed)));
}

HomeWait::HomeWait(const Core& core, std::uint32_t file, std::optional<TimePoint> until)
    : core_(core), file_(file), until_(until), mark_(mark()) {
  moved();
}

std::uint64_t HomeWait::mark() const {
  const auto& record = core_.control.file(file_);
  const std::uint64_t parts[] = {static_cast<std::uint64_t>(record.home_modified_ns.load()),
                                 static_cast<std::uint64_t>(record.home_changed_ns.load()),
                                 record.home_size.load(), record.last_used.load()};
  return XXH3_64bits(parts, sizeof parts);
}

void HomeWait::moved() {
  last_ = Clock::now();
  if (core_.settings.drain.rate == 0) return;
  // What others have booked so far goes first.
  const auto booked = core_.control.shared().rate_ns.load();
  const auto now = core_.control.nanoseconds();
  if (booked > now) last_ += std::chrono::nanoseconds(booked - now);
}

bool HomeWait::over() {
  const auto now = Clock::now();
  if (until_) return now >= *until_;
  last_ = std::max(last_, core_.landings.last(file_));
  if (const auto seen = mark(); seen != mark_) {
    mark_ = seen;
    moved();
  }
  return now >= last_ + core_.settings.limits.home_wait;
}

HomeWait::TimePoint HomeWait::look_again() const {
  if (until_) return *until_;
  const auto longest = core_.settings.limits.home_wait;
  return std::min<TimePoint>(last_ + longest, Clock::now() + longest / kLooks);
}

}  // namespace forebay
