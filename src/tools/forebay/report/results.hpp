// A results file of `forebay bench` as it was read: JSON lines, described in docs/bench-format.md.
//
// Nothing here is computed. A number that the file does not have, or that is no finite number of at least 0,
// is empty; members and kinds that are not known are ignored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace forebay::report {

using Number = std::optional<double>;
// In the order of their names (the file's objects have none).
using Pairs = std::vector<std::pair<std::string, std::string>>;

enum class Outcome : std::uint8_t { Ok, WrongBytes, Failed, Interrupted };

// Of the job, not of one rank. Seconds.
struct Iteration {
  std::string name;
  Number seconds;
  Number bytes;
};

// One way, one round.
struct Round {
  std::string way;
  int number = 0;
  Outcome outcome = Outcome::Ok;
  std::string error;
  std::string remark;  // what must be known of the figures
  Number bytes;
  Number operations;
  std::map<std::string, double, std::less<>> times;  // seconds by name
  Number raw_rate;                                   // bytes a second
  Number observed_rate;
  Number peak_memory, own_memory;
  Number home_reads, home_writes, home_read_bytes, home_written_bytes;
  Number home_others;  // requests that carry no data
  Number staged_bytes, hit_bytes, miss_bytes, hit_rate;
  Number verified_bytes;
  Pairs settings;
  std::vector<Iteration> iterations;

  [[nodiscard]] Number time(std::string_view name) const;
};

struct Span {
  int rank = 0;
  std::string what;
  double begin = 0;  // seconds since the round began
  double end = 0;    // never before begin
};
struct Fill {
  double at = 0;
  double used = 0;
  double unsaved = 0;
  Number drained{};             // bytes carried home until then
  std::vector<double> tiers{};  // used of each
};
struct Timeline {
  std::string way{};
  int round = 0;
  std::vector<Span> spans{};
  std::vector<Fill> fill{};          // in order of time
  Number closed{};                   // the last close of all ranks
  std::vector<std::string> tiers{};  // their names
};

struct Workload {
  std::string name;
  std::string kernel;
  std::string title;  // its name if the file has none
  std::string group;  // empty: of none
  std::string x;      // its place in a sweep, as text; empty: of none
  Number x_number;    // if that is a number
  std::string x_name;
  std::string published;  // what was published of it, in a sentence
  Pairs configuration;
  Number ranks;
  std::string flavour;            // of HDF5 and MPI
  Number rounds;                  // as planned
  std::vector<std::string> ways;  // as planned, then others that there are results of
  std::vector<Round> results;     // in the order of the file
  std::vector<Timeline> timelines;
};

enum class Completeness : std::uint8_t {
  Complete,
  Interrupted,  // its last line says so
  CutOff,       // it has no last line: whoever wrote it died
};

struct Run {
  std::string file;
  std::string started, finished, command, version, commit;
  Pairs machine, software;
  Pairs home;  // what describes it, for people: "path", "file system", "write bandwidth" ...
  Completeness completeness = Completeness::CutOff;
  std::vector<Workload> workloads;
};

// The runs in a text (a file may hold several, one after the other). `name` is for the errors, which are one
// sentence with the line: EINVAL. A last line without an end, as a killed program leaves it, is no error: the
// run is CutOff.
Result<std::vector<Run>> parse_results(std::string_view text, const std::string& name);

// As parse_results; an errno value if the file cannot be read.
Result<std::vector<Run>> read_results(const std::string& path);

}  // namespace forebay::report
