// From which seed a random test runs: a fresh one, printed, or FOREBAY_TEST_SEED to repeat a run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace forebay::testing {

inline std::uint64_t choose_seed(const char* what) {
  const char* given = std::getenv("FOREBAY_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("%s: FOREBAY_TEST_SEED=%llu repeats this run\n", what, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

}  // namespace forebay::testing
