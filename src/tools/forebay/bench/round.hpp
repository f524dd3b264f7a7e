// One round of one workload in one way: prepared natively, run, waited for until its bytes are home, checked
// natively.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tools/forebay/bench/home.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

struct RoundIteration {
  std::string name;
  double seconds = 0;
  std::uint64_t bytes = 0;
};

struct RoundSpan {
  unsigned rank = 0;
  std::string what;
  double begin = 0;
  double end = 0;
};

struct FillSample {
  double at = 0;
  std::uint64_t used = 0;
  std::uint64_t unsaved = 0;
  std::uint64_t drained = 0;           // bytes that were carried home until then
  std::vector<std::uint64_t> tiers{};  // used of each
};

struct BufferFigures {
  std::uint64_t staged = 0;
  std::uint64_t hit = 0;
  std::uint64_t missed = 0;
};

struct RoundResult {
  std::string status = "ok";  // ok, wrong_bytes, failed, interrupted
  std::string error{};
  std::string remark{};  // what a reader of the figures must know: that nothing was buffered, and why
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
  std::uint64_t verified_bytes = 0;
  std::uint64_t peak_memory = 0;  // of each rank, together: pages that they share count for each
  std::uint64_t own_memory = 0;   // pages that no other process has
  std::map<std::string, double> times{};
  std::optional<HomeRequests> home{};
  std::optional<BufferFigures> buffer{};
  Texts settings{};
  std::vector<RoundIteration> iterations{};
  std::vector<RoundSpan> spans{};
  std::vector<FillSample> fill{};
  std::vector<std::string> tiers{};  // their names
  double closed = 0;                 // the last close of all ranks, since the round began

  [[nodiscard]] bool ok() const { return status == "ok"; }
  [[nodiscard]] double time(const std::string& name) const;
  // Bytes a second; 0 when no time passed.
  [[nodiscard]] double rate(const std::string& time_name) const;
};

struct RoundOptions {
  bool verify = true;
  std::uint64_t seed = 1;
  unsigned limit_seconds = 3600;  // for each stage
  std::string plant{};      // for tests of the suite: what a kernel is to do wrong, or "command:..." ...
  std::string plant_way{};  // ... in this way
  std::vector<std::string> set{};  // settings of Forebay, key=value
};

class Rounds {
 public:
  // `scratch`: a private directory in memory.
  Rounds(const BenchHome& home, std::string scratch, RoundOptions options)
      : home_(home), scratch_(std::move(scratch)), options_(std::move(options)) {}

  // Never fails: the result says what went wrong. `progress` is told 0 to 1.
  RoundResult run(const Workload& workload, const Way& way, unsigned round,
                  const std::function<void(double)>& progress) const;
  // Removes what the workload left in home, in all its ways or in one.
  void clean(const Workload& workload) const;
  void clean(const Workload& workload, const Way& way) const;

 private:
  class Attempt;
  [[nodiscard]] static std::string folder_of(const Way& way);

  const BenchHome& home_;
  std::string scratch_;
  RoundOptions options_;
};

}  // namespace forebay
