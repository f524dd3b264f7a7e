// The processes that opened a file together. Every method is collective.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

namespace forebay::mpiio {

// Is there MPI_COMM_WORLD, and MPI_COMM_SELF? Not in a program that has MPI by sessions only.
[[nodiscard]] bool world_is_there();

class Ranks {
 public:
  // A communicator of its own, so that nothing here meets the program's messages. One process by itself needs
  // none, and calls nothing that is collective.
  explicit Ranks(MPI_Comm comm);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  void barrier() const;
  // Does every rank say so? Also a barrier.
  [[nodiscard]] bool all(bool mine) const;
  // The least of what all ranks say.
  [[nodiscard]] int least(int mine) const;
  using Pair = std::array<std::uint64_t, 2>;
  [[nodiscard]] std::vector<Pair> gather(const Pair& mine) const;
  // What rank `root` says.
  [[nodiscard]] std::int64_t told(std::int64_t value, int root) const;
  // The sum of what lower ranks say.
  [[nodiscard]] std::int64_t before(std::int64_t mine) const;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  // Are they all that this job began with? Otherwise others may have the same file open. Not collective.
  [[nodiscard]] bool everybody() const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace forebay::mpiio
