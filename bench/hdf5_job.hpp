// Runs a workload of bench/hdf5 as a child process: natively, or with the HDF5 door switched on by its
// environment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/run.hpp"

namespace forebay::bench {

// Seconds, by the names the workload gives them.
using Seconds = std::map<std::string, double>;

// Runs `program` with these words, on MPICH if there is more than one rank. Throws if it fails.
[[nodiscard]] Seconds run_workload(std::vector<std::string> environment, unsigned ranks,
                                   const std::string& program, const std::vector<std::string>& words);

class Hdf5Job {
 public:
  // `ranks`: 1 is the serial HDF5, more are MPICH. `settings`: NAME=VALUE for the door's environment.
  Hdf5Job(const Run& run, unsigned ranks, std::vector<std::string> settings = {});

  // Each run with the door has a buffer of its own. Throws if the workload fails.
  [[nodiscard]] Seconds natively(const std::vector<std::string>& words) const;
  [[nodiscard]] Seconds with_door(const std::vector<std::string>& words) const;

  [[nodiscard]] unsigned ranks() const { return ranks_; }
  // What this shape is called at the end of a figure's name.
  [[nodiscard]] std::string suffix() const {
    return ranks_ == 1 ? "" : "/" + std::to_string(ranks_) + "_ranks";
  }

 private:
  [[nodiscard]] Seconds start(std::vector<std::string> environment,
                              const std::vector<std::string>& words) const;

  const Run& run_;
  unsigned ranks_;
  std::vector<std::string> settings_;
};

// The shapes that every figure of the HDF5 door is measured in.
inline constexpr unsigned kHdf5Ranks[] = {1, 4};

}  // namespace forebay::bench
