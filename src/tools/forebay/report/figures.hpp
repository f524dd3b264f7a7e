// What the rounds of one way say together: medians and spreads.
//
// Only rounds that ended well count. A way that returned a wrong byte in any round has figures all the same,
// for whoever looks for the fault, but is not trusted: nothing may be concluded from them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/forebay/report/results.hpp"

namespace forebay::report {

struct Spread {
  double median = 0;
  double low = 0;  // the smallest and the largest of all
  double high = 0;
  std::size_t count = 0;  // never 0
};
using Figure = std::optional<Spread>;
Figure spread_of(std::vector<double> values);

struct IterationFigures {
  std::string name;
  Figure seconds;
  Figure rate;  // bytes a second
};

struct WayFigures {
  std::string way;
  std::size_t good = 0;  // rounds that ended well
  std::size_t wrong = 0;
  std::size_t failed = 0;
  std::size_t interrupted = 0;
  std::size_t missing = 0;           // planned, and not in the file
  std::vector<std::string> errors;   // each once
  std::vector<std::string> remarks;  // each once

  Figure observed_rate, raw_rate;  // bytes a second
  Figure bytes, operations, peak_memory, own_memory;
  Figure home_others, home_reads, home_writes, home_read_bytes, home_written_bytes;
  Figure staged_bytes, hit_rate;
  // By the names of the results file, and "whole": the total and the drain tail after it, until every byte is
  // home.
  std::map<std::string, Spread, std::less<>> times;
  // The smallest share of a round's bytes that was compared, at most 1. Of a round that moved none, whether
  // anything was.
  Number checked;
  std::vector<IterationFigures> iterations;
  Pairs settings;

  [[nodiscard]] Figure time(std::string_view name) const;
  [[nodiscard]] bool trusted() const { return wrong == 0 && good > 0; }
  // The way in which nothing is transferred, so that what is left is the kernels' own cost. It is none to
  // compare.
  [[nodiscard]] bool is_null() const { return way == "null"; }
};

// The ways of a workload in its order.
std::vector<WayFigures> figures_of(const Workload& workload);

// The way that others are compared with: "native", or else the first. Null if there is none.
const WayFigures* baseline_of(std::span<const WayFigures> ways);

// The kernel's own part of what the program waited for its files: what its calls take when nothing is
// transferred (`raw`), and what lies between them (`own`), both of the null way. None if nothing was waited.
Number own_share(double raw, double own, double waited);

// One part of the time from begin to end.
struct Phase {
  std::string_view
      name;  // "compute", "create, open", "transfer", "metadata", "flush", "close", "tail", "other"
  double seconds = 0;
};
// Medians, in the order in which they happen; phases that took no time are left out. "other" is what the
// whole has more than its parts; parts that overlap (asynchronous transfers) may make more than the whole.
std::vector<Phase> phases_of(const WayFigures& figures);

}  // namespace forebay::report
