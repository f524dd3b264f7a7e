// From which seed a random test runs. Everyday runs take the same one each time, so that a failure means that
// something changed; nightly runs take a fresh one, printed; FOREBAY_TEST_SEED asks for a certain one, or for
// a fresh one by the word random.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "support/scale.hpp"

namespace forebay::testing {

inline std::uint64_t choose_seed(const char* what) {
  const char* given = std::getenv("FOREBAY_TEST_SEED");
  const std::string_view wish = given != nullptr ? given : nightly() ? "random" : "1";
  const std::uint64_t seed =
      wish == "random" ? std::random_device{}() : std::strtoull(std::string(wish).c_str(), nullptr, 10);
  std::printf("%s: FOREBAY_TEST_SEED=%llu repeats this run\n", what, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

}  // namespace forebay::testing
