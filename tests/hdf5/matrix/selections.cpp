#include <algorithm>
#include <array>

#include "hdf5/matrix/axes.hpp"

namespace forebay::testing::matrix {
namespace {

using Corner = std::array<hsize_t, 2>;

void slab(hid_t space, H5S_seloper_t how, Corner start, Corner count) {
  if (count[0] == 0 || count[1] == 0) return;
  H5Sselect_hyperslab(space, how, start.data(), nullptr, count.data(), nullptr);
}

// Not in order, and none twice.
void points(hid_t space, Corner start, Corner count, std::uint64_t number) {
  const hsize_t all = count[0] * count[1];
  std::vector<hsize_t> chosen;
  for (hsize_t i = 0; i < all; ++i) {
    if (mix(number, i) % 5 == 0) chosen.push_back(i);
  }
  if (chosen.empty()) chosen.push_back(all / 2);
  std::ranges::sort(chosen, {}, [&](hsize_t i) { return mix(number + 1, i); });
  std::vector<hsize_t> coordinates;
  for (const auto i : chosen) {
    coordinates.push_back(start[0] + i / count[1]);
    coordinates.push_back(start[1] + i % count[1]);
  }
  H5Sselect_elements(space, H5S_SELECT_SET, chosen.size(), coordinates.data());
}

}  // namespace

Id select(Shape shape, const hsize_t* dims, hsize_t first, hsize_t last, std::uint64_t number) {
  Id space(H5Screate_simple(2, dims, nullptr));
  const hsize_t rows = last - first;
  const hsize_t columns = dims[1];
  if (rows == 0 || shape == Shape::kNone) {
    H5Sselect_none(space);
    return space;
  }
  switch (shape) {
    case Shape::kSlab: {
      const hsize_t skip = rows > 2 ? mix(number) % 2 : 0;
      const hsize_t left = mix(number, 1) % 4;
      slab(space, H5S_SELECT_SET, {first + skip, left}, {rows - skip, columns - left - mix(number, 2) % 3});
      break;
    }
    case Shape::kStrided: {
      const Corner start{first, number % 2};
      const Corner stride{2, 5};
      const Corner block{1, 3};
      const Corner count{(rows + 1) / 2, (columns - start[1] - block[1]) / stride[1] + 1};
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), stride.data(), count.data(), block.data());
      break;
    }
    case Shape::kUnion:
      slab(space, H5S_SELECT_SET, {first, 1}, {rows, 4});
      slab(space, H5S_SELECT_OR, {first, 3}, {(rows + 1) / 2, 9});
      slab(space, H5S_SELECT_OR, {last - 1, columns - 3}, {1, 3});
      slab(space, H5S_SELECT_NOTB, {first, 2 + number % 4}, {1, 1});
      break;
    case Shape::kPoints:
      points(space, {first, 0}, {rows, columns}, number);
      break;
    default:
      slab(space, H5S_SELECT_SET, {first, 0}, {rows, columns});
  }
  return space;
}

Id memory_for(hsize_t points, std::uint64_t number) {
  if (points == 0) {
    const Corner four{4, 0};
    Id space(H5Screate_simple(1, four.data(), nullptr));
    H5Sselect_none(space);
    return space;
  }
  const hsize_t start = number % 3 == 1 ? 2 : 0;
  const hsize_t stride = number % 3 == 2 ? 2 : 1;
  const hsize_t size = start + points * stride;
  Id space(H5Screate_simple(1, &size, nullptr));
  if (size != points) H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &points, nullptr);
  return space;
}

}  // namespace forebay::testing::matrix
