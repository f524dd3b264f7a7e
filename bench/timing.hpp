// Measuring on a noisy machine: two things by turns, medians, and ratios of neighbours in time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace forebay::bench {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[nodiscard]] inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

// Seconds one call of operation(i) takes, for i in [0, count): the median of slices of a few calls each, so
// that a slice in which the machine did something else does not count. Short calls want slices that are long
// against a look at the clock (30 ns).
inline constexpr std::uint64_t kShortCalls = 16;
template <class Operation>
[[nodiscard]] double median_call(std::uint64_t count, std::uint64_t slice, Operation&& operation) {
  std::vector<double> slices;
  slices.reserve(count / slice + 1);
  for (std::uint64_t i = 0; i + slice <= count;) {
    const auto start = Clock::now();
    for (std::uint64_t k = 0; k < slice; ++k) operation(i++);
    slices.push_back(seconds_since(start) / static_cast<double>(slice));
  }
  return median(std::move(slices));
}

// What two measurements gave, by turns: A B A B ...
struct Comparison {
  double ours;  // medians
  double baseline;
  double
      quotient;  // of baseline by ours: the median over the turns, because neighbours in time share the noise
};
[[nodiscard]] inline Comparison compare(unsigned turns, const std::function<double()>& ours,
                                        const std::function<double()>& baseline) {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> quotients;
  for (unsigned i = 0; i < turns; ++i) {
    a.push_back(ours());
    b.push_back(baseline());
    quotients.push_back(b.back() / a.back());
  }
  return {median(std::move(a)), median(std::move(b)), median(std::move(quotients))};
}

}  // namespace forebay::bench
