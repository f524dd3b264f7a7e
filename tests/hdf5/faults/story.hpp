// A file of numbered datasets, each with contents that follow from its number. Failures are answers, not
// exits: whoever runs this wants to see where they surface.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::testing::faults {

inline constexpr hsize_t kValues = 20'000;

[[nodiscard]] inline std::int32_t value(unsigned dataset, hsize_t index) {
  return static_cast<std::int32_t>((dataset + 1) * 2654435761u + index * 40503u);
}

// Even ones are contiguous, odd ones chunked; every tenth is compressed.
[[nodiscard]] inline hid_t make_dataset(hid_t file, unsigned number) {
  const hsize_t chunk = 3'000;
  const hid_t space = H5Screate_simple(1, &kValues, nullptr);
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(dcpl, false);
  if (number % 2 == 1) H5Pset_chunk(dcpl, 1, &chunk);
  if (number % 10 == 3) H5Pset_deflate(dcpl, 1);
  const auto name = "d" + std::to_string(number);
  const hid_t made = H5Dcreate2(file, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Pclose(dcpl);
  H5Sclose(space);
  return made;
}

// 0, or what HDF5 answered.
inline herr_t write_dataset(hid_t file, unsigned number) {
  const hid_t dataset = make_dataset(file, number);
  if (dataset < 0) return -1;
  std::vector<std::int32_t> data(kValues);
  for (hsize_t i = 0; i < kValues; ++i) data[i] = value(number, i);
  const herr_t code = H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
  return H5Dclose(dataset) < 0 ? -1 : code;
}

inline herr_t write_datasets(hid_t file, unsigned first, unsigned last) {
  herr_t worst = 0;
  for (unsigned i = first; i < last; ++i) worst = write_dataset(file, i) < 0 ? -1 : worst;
  return worst;
}

// Is dataset `number` there, and whole?
[[nodiscard]] inline bool is_whole(hid_t file, unsigned number) {
  const hid_t dataset = H5Dopen2(file, ("d" + std::to_string(number)).c_str(), H5P_DEFAULT);
  if (dataset < 0) return false;
  std::vector<std::int32_t> data(kValues);
  bool whole = H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) >= 0;
  for (hsize_t i = 0; whole && i < kValues; ++i) whole = data[i] == value(number, i);
  H5Dclose(dataset);
  return whole;
}

}  // namespace forebay::testing::faults
