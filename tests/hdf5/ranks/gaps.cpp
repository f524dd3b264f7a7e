#include <hdf5.h>
#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

constexpr hsize_t kFilledChunk = 1024;  // elements
constexpr hsize_t kHole = 8 * kFilledChunk;

// A dataset whose chunks, filled by all ranks together, lie before and behind another one.
void fill_around(hid_t file) {
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  constexpr std::int32_t kFill = -7;
  H5Pset_chunk(dcpl, 1, &kFilledChunk);
  H5Pset_fill_value(dcpl, H5T_NATIVE_INT32, &kFill);
  H5Dclose(make(file, "filled", 2 * kHole, dcpl));
  H5Pclose(dcpl);
}

}  // namespace

int gaps(const std::string& path, unsigned times) {
  int wrong = 0;
  std::vector<std::int32_t> mine(kPart);
  for (unsigned turn = 0; turn < times; ++turn) {
    hid_t file = create(path);
    H5Dclose(make(file, "hole", kHole));
    const hid_t dataset = make(file, "between", kPart * static_cast<hsize_t>(size()));
    H5Ldelete(file, "hole", H5P_DEFAULT);
    std::iota(mine.begin(), mine.end(), static_cast<std::int32_t>(turn) * 1'000'000 + rank() * 10'000);
    move_mine(dataset, [&](hid_t memory, hid_t space) {
      return H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, mine.data());
    });
    ::usleep(500 * (turn % 16));
    fill_around(file);
    H5Dclose(dataset);
    if (H5Fclose(file) < 0) ++wrong;
    file = open(path, H5F_ACC_RDONLY);
    const hid_t again = H5Dopen2(file, "between", H5P_DEFAULT);
    std::vector<std::int32_t> found(kPart);
    move_mine(again, [&](hid_t memory, hid_t space) {
      return H5Dread(again, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, found.data());
    });
    if (found != mine) ++wrong;
    H5Dclose(again);
    H5Fclose(file);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace forebay::testing::ranks
