// An MPI datatype as the bytes it names.
//
// A plain value, independent of the handle it was made from.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::mpiio {

struct Run {
  std::int64_t offset;  // from where the buffer, or the tile of the view, begins
  std::int64_t length;

  bool operator==(const Run&) const = default;
};

struct FlatType {
  std::vector<Run> runs{};  // in the order of the type map, neighbours joined, none empty
  std::int64_t size = 0;    // of the data
  std::int64_t extent = 0;  // from one element to the next

  // Do `count` elements lie together, without a gap?
  [[nodiscard]] bool contiguous(std::int64_t count) const {
    return runs.size() == 1 && (count == 1 || runs.front().length == extent);
  }
  // May it be a file's type: never back, never negative, and with data?
  [[nodiscard]] bool monotonic() const;
};

// More runs than this are not worth the memory: the native call serves them.
inline constexpr std::size_t kMaxRuns = std::size_t{1} << 21;

// Nothing for more than kMaxRuns, and for a kind of type that is not known here.
std::optional<FlatType> flatten(MPI_Datatype type);

}  // namespace forebay::mpiio
