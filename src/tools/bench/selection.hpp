// Selections of a dataspace, as runs of neighbouring elements in the order in which HDF5 moves them.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/hid.hpp"

namespace forebay::kernels {

struct Run {
  std::uint64_t first;  // element of the dataset, counted row by row
  std::uint64_t count;
};

[[nodiscard]] std::vector<Run> runs_of(hid_t space);
[[nodiscard]] std::uint64_t elements_of(const std::vector<Run>& runs);

[[nodiscard]] Hid simple_space(const std::vector<hsize_t>& dims);
// A box of a dataset, alone or added to what is selected already.
void select_box(hid_t space, const std::vector<hsize_t>& start, const std::vector<hsize_t>& count,
                bool add = false);

}  // namespace forebay::kernels
