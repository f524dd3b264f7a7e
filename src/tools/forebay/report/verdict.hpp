// What the figures mean, in words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/forebay/report/figures.hpp"

namespace forebay::report {

enum class Judgement : std::uint8_t {
  Baseline,  // what the others are compared with
  Faster,
  Slower,
  Same,        // the ranges of the rounds overlap
  OwnCost,     // the null way: what the kernel itself costs
  Alone,       // there is nothing to compare it with
  Unfinished,  // no round ended well, and none is wrong
  Wrong,       // a wrong byte: nothing else matters
};

// How much a figure differs from the baseline's, with what the spreads allow for at either end.
struct Ratio {
  double value = 1;  // above 1: better
  double low = 1;
  double high = 1;
};

struct Verdict {
  std::string way;
  Judgement judgement = Judgement::Alone;
  std::optional<Ratio> ratio;  // of the observed rate; where nothing was transferred, of the time waited
  std::string brief;           // "7.70 times", "12.0 % slower", "no difference", "wrong bytes"
  std::string lead;            // what is most important: "7.70 times native's observed rate"
  std::string rest;            // what follows it, from its "; " on

  // One sentence without a final full stop.
  [[nodiscard]] std::string words() const { return lead + rest; }
};

// One for each of `ways`, in their order.
std::vector<Verdict> judge(std::span<const WayFigures> ways);

// Of many workloads, for one way: "forebay: faster in 5 of 7 workloads (1.20 to 7.70 times native's observed
// rate, median 3.10), no difference in 1, slower in 1". Ways that are only a baseline have no line.
std::vector<std::string> overall(std::span<const std::vector<Verdict>> workloads);

}  // namespace forebay::report
