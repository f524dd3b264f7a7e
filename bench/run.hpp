// One run of the benchmark program: what was asked for, where to put files, and where results go.
#pragma once

#include <format>
#include <span>
#include <string>

#include "bench/scratch.hpp"
#include "bench/timing.hpp"

namespace forebay::bench {

struct Options {
  std::string filter;       // a regular expression; figures it is found in are measured
  std::string disk;         // where files on a disk are put
  bool quick = false;       // fewer turns, less data: to see that it works
  unsigned repeat = 0;      // turns of each comparison; 0: the figure chooses
  bool write_docs = false;  // also rewrite the tables in docs/
  std::string docs;
};

// One line of output. `ratio` is against the baseline measured in the same run; `baseline` says what that is.
struct Result {
  std::string name;
  double value;
  std::string unit;
  double ratio;
  std::string baseline;
};

class Run {
 public:
  explicit Run(Options options) : options_(std::move(options)), scratch_(options_.disk) {}

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Scratch& scratch() const { return scratch_; }
  [[nodiscard]] bool quick() const { return options_.quick; }
  // How many turns, where `usual` are enough on a quiet machine.
  [[nodiscard]] unsigned turns(unsigned usual) const {
    if (options_.repeat != 0) return options_.repeat;
    return options_.quick ? 3 : usual;
  }
  [[nodiscard]] std::uint64_t scaled(std::uint64_t full, std::uint64_t quick) const {
    return options_.quick ? quick : full;
  }

  // Prints the result at once: a run that is interrupted has shown what it had.
  void report(const Result& result) const;
  // A comparison of times, as microseconds or as a rate.
  void report_time(const std::string& name, const Comparison& times, const std::string& baseline) const;
  void report_rate(const std::string& name, const Comparison& times, double bytes,
                   const std::string& baseline) const;

  void say(const std::string& text) const;  // to standard error

 private:
  Options options_;
  Scratch scratch_;
};

struct Figure {
  const char* name;
  const char* goal;
  void (*measure)(const Run& run);
};

}  // namespace forebay::bench
