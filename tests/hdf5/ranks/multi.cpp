#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

H5T_conv_ret_t refuse(H5T_conv_except_t, hid_t, hid_t, void*, void*, void*) { return H5T_CONV_ABORT; }

}  // namespace

int multi(const std::string& path) {
  const auto elements = kPart * static_cast<hsize_t>(size());
  const hid_t file = create(path);
  // (Beside a filtered one HDF5 would convert nothing, and refuse the call.)
  const hid_t chunks = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(chunks, 1, &kPart);
  hid_t datasets[] = {make(file, "plain", elements), make(file, "in chunks", elements, chunks),
                      make(file, "more", elements)};
  hid_t spaces[] = {my_part(datasets[0]), my_part(datasets[1]), my_part(datasets[2])};
  const hid_t memory = H5Screate_simple(1, &kPart, nullptr);
  hid_t memories[] = {memory, memory, memory};
  // Rank 0 cannot give its part of the first one.
  hid_t types[] = {H5T_NATIVE_INT64, H5T_NATIVE_INT32, H5T_NATIVE_INT32};
  const std::vector<std::int64_t> large(kPart, rank() == 0 ? std::int64_t{1} << 40 : 5);
  const std::vector<std::int32_t> plain(kPart, rank());
  const void* data[] = {large.data(), plain.data(), plain.data()};
  const hid_t list = collective_list();
  H5Pset_type_conv_cb(list, refuse, nullptr);
  herr_t result = 0;
  H5E_BEGIN_TRY result = H5Dwrite_multi(3, datasets, types, memories, spaces, list, data);
  H5E_END_TRY
  int wrong = (result < 0) == (rank() == 0) ? 0 : 1;

  for (int i = 1; i < 3; ++i) {
    std::vector<std::int32_t> found(kPart);
    H5Dread(datasets[i], H5T_NATIVE_INT32, memory, spaces[i], H5P_DEFAULT, found.data());
    if (found != plain) wrong |= 2;
  }
  for (int i = 0; i < 3; ++i) {
    H5Sclose(spaces[i]);
    H5Dclose(datasets[i]);
  }
  H5Sclose(memory);
  H5Pclose(list);
  H5Pclose(chunks);
  if (H5Fclose(file) < 0) wrong |= 4;
  return wrong;
}

}  // namespace forebay::testing::ranks
