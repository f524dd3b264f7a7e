#include "tools/bench/selection.hpp"

#include <array>

namespace forebay::kernels {

std::vector<Run> runs_of(hid_t space) {
  constexpr std::size_t kMany = 4096;
  std::array<hsize_t, kMany> offsets{};
  std::array<std::size_t, kMany> lengths{};
  std::vector<Run> runs;
  const Hid iterator(H5Ssel_iter_create(space, 1, 0), H5Ssel_iter_close, "walk a selection");
  for (std::size_t sequences = kMany; sequences != 0;) {
    std::size_t elements = 0;
    must(H5Ssel_iter_get_seq_list(iterator.get(), kMany, SIZE_MAX / 2, &sequences, &elements, offsets.data(),
                                  lengths.data()),
         "walk a selection");
    for (std::size_t i = 0; i < sequences; ++i) {
      if (!runs.empty() && runs.back().first + runs.back().count == offsets[i]) {
        runs.back().count += lengths[i];
      } else {
        runs.push_back({offsets[i], lengths[i]});
      }
    }
  }
  return runs;
}

std::uint64_t elements_of(const std::vector<Run>& runs) {
  std::uint64_t sum = 0;
  for (const auto& run : runs) sum += run.count;
  return sum;
}

Hid simple_space(const std::vector<hsize_t>& dims) {
  return {H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose,
          "make a dataspace"};
}

void select_box(hid_t space, const std::vector<hsize_t>& start, const std::vector<hsize_t>& count, bool add) {
  must(H5Sselect_hyperslab(space, add ? H5S_SELECT_OR : H5S_SELECT_SET, start.data(), nullptr, count.data(),
                           nullptr),
       "select a box");
}

}  // namespace forebay::kernels
