// The ranks of a kernel: MPI's, or this process alone.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::kernels {

class World {
 public:
  // `many_threads`: MPI is begun at MPI_THREAD_MULTIPLE, which connectors with threads of their own need.
  explicit World(bool many_threads);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(rank_); }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(ranks_); }
  [[nodiscard]] bool first() const { return rank_ == 0; }
  [[nodiscard]] bool many_threads() const { return many_threads_; }  // as MPI says
  void barrier() const;
  // Each rank's values, one rank after the other, on the first rank; nothing elsewhere. Texts hold no zero.
  [[nodiscard]] std::vector<double> gather(const std::vector<double>& values) const;
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) const;
  // Ends all ranks.
  [[noreturn]] void abort() const;

  // "1.14.5" and "MPICH 4.2.1" (empty without MPI).
  static std::string hdf5_version();
  static std::string mpi_version();

 private:
  int rank_ = 0;
  int ranks_ = 1;
  bool many_threads_ = false;
};

}  // namespace forebay::kernels
