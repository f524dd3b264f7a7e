// How much a test does: little on every run, much in the night (FOREBAY_TEST_SCALE=nightly).
#pragma once

#include <cstdlib>
#include <string_view>

namespace forebay::testing {

inline bool nightly() {
  const char* scale = std::getenv("FOREBAY_TEST_SCALE");
  return scale != nullptr && std::string_view(scale) == "nightly";
}

// `const int kills = scaled(200, 2000);`
template <class T>
T scaled(T usual, T in_the_night) {
  return nightly() ? in_the_night : usual;
}

}  // namespace forebay::testing
