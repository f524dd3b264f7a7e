// What the random program of each rank needs: who it is, how it fails, and what it draws.
#pragma once

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/error.hpp"

namespace forebay::hdf5 {

inline int rank_here = 0;
inline int rank_count = 1;
inline std::string trail;  // what was done last, for whoever reads a failure

inline void note(const std::string& what) {
  trail += what + "; ";
  if (trail.size() > 6000) trail.erase(0, trail.size() - 6000);
}
[[noreturn]] inline void die(const std::string& what) {
  std::fprintf(stderr, "rank %d: %s\nafter: %s\n", rank_here, what.c_str(), trail.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
inline void expect(bool good, const std::string& what) {
  if (!good) die(what);
}
template <class T>
T must(Result<T> result, const std::string& what) {
  if (!result) die(what + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// What HDF5 does around a connector's callback.
class Inside {
 public:
  Inside() { H5VLstart_lib_state(); }
  ~Inside() { H5VLfinish_lib_state(); }
};

// The same on all ranks, but for what is drawn from `own`.
struct Dice {
  std::mt19937 shared;
  std::mt19937 own;
  std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(shared);
  }
  bool chance(unsigned percent) { return pick(1, 100) <= percent; }
  bool own_chance(unsigned percent) {
    return std::uniform_int_distribution<unsigned>(1, 100)(own) <= percent;
  }
};

}  // namespace forebay::hdf5
