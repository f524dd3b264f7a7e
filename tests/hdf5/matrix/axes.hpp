// The axes of the matrix: datatypes, layouts and selections.
#pragma once

#include <string>
#include <vector>

#include "hdf5/matrix/element.hpp"

namespace forebay::testing::matrix {

// A datatype as it is in the file, as it is written from memory and as it is read back.
struct Kind {
  std::string name;
  Id in_file;
  Id written;
  Id read;
  Id rewritten;  // what an overwrite uses: the type above, or a part of a compound
};
[[nodiscard]] std::vector<Kind> all_kinds();

// How a dataset lies in the file. `set` completes the creation list, and makes what the layout needs beside
// it (files that a virtual or an external dataset lies in).
struct Layout {
  const char* name;
  bool extendible;
  bool filtered;
  bool (*set)(hid_t file, hid_t dcpl, const Kind& kind, const std::string& dataset, const hsize_t* dims);
};
[[nodiscard]] std::vector<Layout> all_layouts();

enum class Shape { kAll, kSlab, kStrided, kUnion, kPoints, kNone };
inline constexpr const char* kShapeNames[] = {"all", "slab", "strided", "union", "points", "none"};
inline constexpr unsigned kShapes = 6;

// A two-dimensional dataset's space with rows [first, last) selected in that shape.
[[nodiscard]] Id select(Shape shape, const hsize_t* dims, hsize_t first, hsize_t last, std::uint64_t number);

// A memory space that takes `points` elements: packed, with a gap before them, or every second one.
[[nodiscard]] Id memory_for(hsize_t points, std::uint64_t number);

}  // namespace forebay::testing::matrix
