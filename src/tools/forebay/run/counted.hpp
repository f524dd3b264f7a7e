// What was counted of a buffer up to some moment, so that a run can tell what it added.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.hpp"

namespace forebay {

struct Counted {
  std::unique_ptr<Counters> counters = std::make_unique<Counters>();
  std::vector<Passed> passed{};

  // Lines of text, and what such lines say; what they do not say is nothing.
  [[nodiscard]] std::string text() const;
  static Counted parse(std::string_view text);
};

// What was passed through since, most frequent first.
std::vector<Passed> passed_since(const std::vector<Passed>& before, const std::vector<Passed>& after);

}  // namespace forebay
