// The ranks of a workload (one without MPI), its files and its answers.
#pragma once

#include <hdf5.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace forebay::bench::hdf5 {

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] hsize_t rank() const { return static_cast<hsize_t>(rank_); }
  [[nodiscard]] hsize_t ranks() const { return static_cast<hsize_t>(ranks_); }
  void barrier() const;
  // Something to do that takes so long. Where ranks outnumber cores it is sleep, as in h5bench: nodes that
  // compute have a core for each rank, and ranks that take turns on one would only measure the scheduler.
  void compute(double seconds) const;
  [[nodiscard]] hid_t create(const std::string& path) const;
  [[nodiscard]] hid_t open(const std::string& path) const;
  // Prints "name value": the largest of all ranks.
  void tell(const char* name, double value) const;

 private:
  [[nodiscard]] hid_t access() const;

  int rank_ = 0;
  int ranks_ = 1;
};

class Watch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Ends the process with HDF5's reasons: a benchmark has nothing to say about failure.
hid_t must(hid_t code);

}  // namespace forebay::bench::hdf5
