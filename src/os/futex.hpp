// Sleeping on a 32-bit word that lies in memory shared between processes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

namespace forebay {

// Returns when woken, when the word differs from `expected`, or after `timeout`: the caller looks again.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::chrono::nanoseconds timeout) {
  const timespec wait{static_cast<time_t>(timeout.count() / 1'000'000'000),
                      static_cast<long>(timeout.count() % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &wait, nullptr, 0);
}

inline void futex_wake(std::atomic<std::uint32_t>& word, int count = INT_MAX) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, count, nullptr, nullptr, 0);
}

}  // namespace forebay
