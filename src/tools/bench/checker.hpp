// Compares what was read with what must have been written, element by element.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/format.hpp"
#include "tools/bench/pattern.hpp"

namespace forebay::kernels {

class Checker {
 public:
  explicit Checker(std::uint64_t seed) : seed_(seed) {}

  // Elements `first` and following of a dataset at a timestep. The first that is wrong is kept in words.
  template <class T>
  void check(const std::string& dataset, std::uint64_t timestep, std::uint64_t first,
             std::span<const T> found) {
    const Source source(seed_, dataset, timestep);
    verified_ += found.size_bytes();
    std::array<T, 2048 / sizeof(T)> expected;
    for (std::size_t i = 0; i < found.size() && wrong_.empty(); i += expected.size()) {
      const auto count = std::min(expected.size(), found.size() - i);
      source.fill(first + i, std::span(expected.data(), count));
      if (std::memcmp(expected.data(), found.data() + i, count * sizeof(T)) == 0) continue;
      for (std::size_t j = 0; j < count; ++j) {
        if (expected[j] == found[i + j]) continue;
        wrong_ = format_text("dataset {}, timestep {}, index {}: found {:#x}, not {:#x}", dataset, timestep,
                             first + i + j, found[i + j], expected[j]);
        break;
      }
    }
  }
  // Elements that nobody has written: they hold zero.
  template <class T>
  void check_unwritten(const std::string& dataset, std::uint64_t timestep, std::uint64_t first,
                       std::span<const T> found) {
    verified_ += found.size_bytes();
    const auto other = std::ranges::find_if(found, [](T one) { return one != 0; });
    if (other == found.end() || !wrong_.empty()) return;
    wrong_ = format_text("dataset {}, timestep {}, index {}: found {:#x} where nobody has written", dataset,
                         timestep, first + static_cast<std::uint64_t>(other - found.begin()), *other);
  }
  // For what is no element: sizes, attributes, names.
  void expect(bool right, const std::string& otherwise) {
    if (!right && wrong_.empty()) wrong_ = otherwise;
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }  // empty: nothing is
  [[nodiscard]] std::uint64_t verified_bytes() const { return verified_; }

 private:
  std::uint64_t seed_;
  std::uint64_t verified_ = 0;
  std::string wrong_;
};

}  // namespace forebay::kernels
