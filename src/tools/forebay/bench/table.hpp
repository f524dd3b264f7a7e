// Results for people: one row for each workload and way, medians with their spread.
#pragma once

#include <string>
#include <vector>

#include "tools/forebay/bench/round.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

struct WayRounds {
  Way way;
  std::vector<RoundResult> rounds{};
};

struct WorkloadRounds {
  Workload workload;
  std::vector<WayRounds> ways{};
  unsigned planned = 0;  // rounds of each way
};

struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};
[[nodiscard]] Spread spread_of(std::vector<double> values);

// The table, and below it a sentence for each thing that is wrong or slower than native.
[[nodiscard]] std::string bench_table(const std::vector<WorkloadRounds>& all, bool verified);

// h5bench's rows: "metric, value, unit". One block for each way, medians of its rounds; where some of them
// failed or were not run, rows that say so.
[[nodiscard]] std::string bench_csv(const WorkloadRounds& workload);

}  // namespace forebay
