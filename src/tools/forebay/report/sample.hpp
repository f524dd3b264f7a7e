// For tests: results made by hand.
#pragma once

#include <string>

#include "tools/forebay/report/results.hpp"

namespace forebay::report {

inline Round round_of(const std::string& way, int number, double observed, double total, double bytes = 1e9) {
  Round round;
  round.way = way;
  round.number = number;
  round.bytes = bytes;
  round.verified_bytes = bytes;
  round.observed_rate = bytes / observed;
  round.times = {{"observed", observed}, {"total", total}};
  return round;
}

// Two ways; `forebay` waits a tenth as long.
inline Workload workload_of(const std::string& name, int rounds = 3) {
  Workload workload;
  workload.name = workload.title = name;
  workload.ways = {"native", "forebay"};
  workload.rounds = rounds;
  for (int i = 1; i <= rounds; ++i) {
    workload.results.push_back(round_of("native", i, 5 + 0.1 * i, 13));
    workload.results.push_back(round_of("forebay", i, 0.5 + 0.01 * i, 8));
  }
  return workload;
}

inline const std::string kRunLine =
    R"({"kind":"run","format":1,"started":"2026-11-18T03:40:00Z","command":"forebay bench"})"
    "\n";

}  // namespace forebay::report
