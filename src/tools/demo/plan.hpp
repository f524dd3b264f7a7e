// What the demo does: the same work both ways.
#pragma once

#include <chrono>
#include <cstdint>

namespace forebay::demo {

struct Plan {
  unsigned processes = 4;
  unsigned checkpoints = 10;                      // of each process
  std::uint64_t size = 8U << 20;                  // of a checkpoint
  std::chrono::nanoseconds compute{800'000'000};  // before each checkpoint
  std::uint64_t bandwidth = 64U << 20;            // home's, of all processes together
  std::chrono::nanoseconds latency{2'000'000};    // of each request to home

  [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{processes} * checkpoints * size; }
  // Of the memory tier: one checkpoint of everybody and half of the next.
  [[nodiscard]] std::uint64_t buffer_size() const { return processes * size * 3 / 2 + (8U << 20); }
};

// What was measured of one way.
struct Figures {
  std::chrono::nanoseconds observed{};   // mean of the processes: waiting for files, last_wait included
  std::chrono::nanoseconds last_wait{};  // mean of the processes: at the end, until everything is home
  std::chrono::nanoseconds total{};      // until the last process has ended
};

}  // namespace forebay::demo
