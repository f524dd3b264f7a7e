// Moves bytes between a caller's memory of any datatype and what a view shows of a file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "door/mpiio/flat_type.hpp"
#include "door/mpiio/view.hpp"
#include "engine/file.hpp"

namespace forebay::mpiio {

// `count` elements of `type` from `base` on. `base` may be MPI_BOTTOM.
struct Memory {
  std::byte* base;
  const FlatType* type;
  std::int64_t count;

  [[nodiscard]] std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(type->size) * static_cast<std::uint64_t>(count);
  }
};

// From byte `position` of the view on. All of it, or an error.
Status write(File& file, const View& view, std::uint64_t position, const Memory& memory);

// How many bytes came: less than all of them only where the file ends.
Result<std::uint64_t> read(File& file, const View& view, std::uint64_t position, const Memory& memory);

}  // namespace forebay::mpiio
