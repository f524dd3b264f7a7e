#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

constexpr hsize_t kChunk = 256;

hid_t make_growing(hid_t file) {
  const hsize_t none = 0;
  const hsize_t limit = H5S_UNLIMITED;
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(dcpl, 1, &kChunk);
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
  const hid_t space = H5Screate_simple(1, &none, &limit);
  const hid_t dataset = H5Dcreate2(file, "grows", H5T_NATIVE_INT32, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Sclose(space);
  H5Pclose(dcpl);
  return dataset;
}

// Chunk `at`, which one rank writes.
bool put(hid_t dataset, hsize_t at, const std::vector<std::int32_t>& values) {
  const hid_t space = H5Dget_space(dataset);
  const hsize_t start = at * kChunk;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &kChunk, nullptr);
  const hid_t memory = H5Screate_simple(1, &kChunk, nullptr);
  const bool good = H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values.data()) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  return good;
}

}  // namespace

int grow(const std::string& path, unsigned times) {
  const hid_t file = create(path);
  const hid_t dataset = make_growing(file);
  int wrong = 0;
  const auto began = std::chrono::steady_clock::now();
  for (hsize_t i = 0; i < times; ++i) {
    const hsize_t dims = (i + 1) * kChunk;
    wrong += H5Dset_extent(dataset, &dims) < 0 ? 1 : 0;
    const std::vector<std::int32_t> values(kChunk, static_cast<std::int32_t>(i * 7));
    if (i % static_cast<hsize_t>(size()) == static_cast<hsize_t>(rank()))
      wrong += put(dataset, i, values) ? 0 : 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0) ++wrong;
  std::vector<std::int32_t> all(times * kChunk);
  if (H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0) ++wrong;
  for (hsize_t i = 0; i < all.size(); ++i)
    wrong += all[i] != static_cast<std::int32_t>(i / kChunk * 7) ? 1 : 0;
  if (rank() == 0) std::printf("%u times %.6f s\n", times, took.count());
  H5Dclose(dataset);
  if (H5Fclose(file) < 0) ++wrong;
  return wrong == 0 ? 0 : 1;
}

}  // namespace forebay::testing::ranks
