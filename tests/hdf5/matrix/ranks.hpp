// The ranks of a run: one where HDF5 is not parallel. Files are opened with the driver, and data is moved
// with the transfer mode, that the options ask for.
#pragma once

#include <cstdint>
#include <string>

#include "hdf5/matrix/id.hpp"

namespace forebay::testing::matrix {

struct Options {
  std::string directory;
  std::string driver = "sec2";           // sec2, stdio, core, family, split, log; mpio
  std::string format = "default";        // default, latest, userblock, paged, pagebuffer
  std::string transfer = "independent";  // or collective; on mpio
  bool collective_metadata = false;      // read collectively
  bool collective_metadata_writes = false;
  unsigned thin = 1;  // of the product of layouts, types and selections, one case in so many
  std::uint64_t seed = 1;
};

class Ranks {
 public:
  Ranks(int* argc, char*** argv);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  // This rank by itself, for as long as the others stay out of what it does.
  [[nodiscard]] Ranks alone() const { return Ranks(rank_); }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  // All ranks that share files: everybody on mpio, each alone otherwise.
  void use(const Options& options);
  [[nodiscard]] int peer() const { return shared_ ? rank_ : 0; }
  [[nodiscard]] int peers() const { return shared_ ? size_ : 1; }
  void barrier() const;

  [[nodiscard]] Id file_access(const Options& options) const;
  [[nodiscard]] Id file_creation(const Options& options) const;
  [[nodiscard]] Id transfer(const Options& options) const;

 private:
  explicit Ranks(int rank) : rank_(rank), owner_(false) {}

  int rank_ = 0;
  int size_ = 1;
  bool shared_ = false;
  bool owner_ = true;  // of MPI
};

}  // namespace forebay::testing::matrix
