#include <hdf5.h>
#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

constexpr hsize_t kPart = 2048;         // elements of each rank
constexpr hsize_t kFilledChunk = 1024;  // elements
constexpr hsize_t kHole = 8 * kFilledChunk;

hid_t make(hid_t file, const char* name, hsize_t elements, hid_t dcpl = H5P_DEFAULT) {
  const hid_t space = H5Screate_simple(1, &elements, nullptr);
  const hid_t dataset = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Sclose(space);
  return dataset;
}

// This rank's part, written or read.
template <class Move>
herr_t move_mine(hid_t dataset, const Move& move) {
  const hsize_t start = kPart * static_cast<hsize_t>(rank());
  const hid_t space = H5Dget_space(dataset);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &kPart, nullptr);
  const hid_t memory = H5Screate_simple(1, &kPart, nullptr);
  const auto result = move(memory, space);
  H5Sclose(memory);
  H5Sclose(space);
  return result;
}

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
