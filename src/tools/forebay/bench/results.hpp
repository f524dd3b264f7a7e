// The results file: JSON lines, as docs/bench-format.md has them. Each line is written at once, so that a run
// that is cut off leaves what it had.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tools/forebay/bench/home.hpp"
#include "tools/forebay/bench/round.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

struct RunFacts {
  std::string command;
  std::string hdf5;
  std::string mpi;
};

class BenchResults {
 public:
  // Makes the file anew.
  static Result<BenchResults> create(const std::string& path);
  BenchResults(BenchResults&& other) noexcept;
  BenchResults& operator=(BenchResults&&) = delete;
  ~BenchResults();

  void run(const RunFacts& facts, const BenchHome& home);
  void workload(const Workload& workload, unsigned rounds);
  void result(const Workload& workload, const Way& way, unsigned round, const RoundResult& result);
  void end(bool complete);
  // What could not be written, if anything.
  [[nodiscard]] Status status() const;

 private:
  BenchResults(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  void line(const std::string& text);
  void timeline(const Workload& workload, const Way& way, unsigned round, const RoundResult& result);

  std::FILE* file_;
  std::string path_;
  bool failed_ = false;
};

// "2026-11-18T03:40:00Z"
std::string utc_now();

}  // namespace forebay
