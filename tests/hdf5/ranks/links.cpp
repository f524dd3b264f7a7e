#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

constexpr std::int32_t kFill = -7;

// One value of each rank's, 2048 times, or with `fill` what was never written.
bool holds(hid_t file, const char* name, bool fill) {
  std::vector<std::int32_t> found(kPart * static_cast<hsize_t>(size()));
  // HDF5 cuts a file that it opens a second time for writing.
  const hid_t only_read = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_elink_acc_flags(only_read, H5F_ACC_RDONLY);
  const hid_t dataset = H5Dopen2(file, name, only_read);
  H5Pclose(only_read);
  if (H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()) < 0) return false;
  H5Dclose(dataset);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != (fill ? kFill : 100 + static_cast<std::int32_t>(i / kPart))) return false;
  }
  return true;
}

}  // namespace

int links(const std::string& path) {
  const std::string beside = path + ".beside";
  const hid_t file = create(path);
  const hid_t other = create(beside);
  H5Gclose(H5Gcreate2(file, "mounted", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Lcreate_external(beside.c_str(), "/", file, "linked", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t dataset = make(other, "data", kPart * static_cast<hsize_t>(size()));
  int wrong = H5Fflush(other, H5F_SCOPE_GLOBAL) < 0 ? 1 : 0;  // a link shows what is on disk
  const std::vector<std::int32_t> mine(kPart, 100 + rank());
  if (move_mine(dataset, [&](hid_t memory, hid_t space) {
        return H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, mine.data());
      }) < 0) {
    wrong |= 1;
  }
  H5Dclose(dataset);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!holds(file, "linked/data", false)) wrong |= 2;

  if (H5Fmount(file, "mounted", other, H5P_DEFAULT) < 0) wrong |= 4;
  if (H5Ocopy(file, "mounted/data", file, "copy", H5P_DEFAULT, H5P_DEFAULT) < 0) wrong |= 4;
  if (!holds(file, "copy", false)) wrong |= 8;
  // What takes its place is filled, and not written.
  if (H5Ldelete(file, "mounted/data", H5P_DEFAULT) < 0) wrong |= 16;
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fill_value(dcpl, H5T_NATIVE_INT32, &kFill);
  H5Dclose(make(file, "mounted/instead", kPart * static_cast<hsize_t>(size()), dcpl));
  H5Pclose(dcpl);
  H5Funmount(file, "mounted");
  if (H5Fclose(other) < 0 || H5Fclose(file) < 0) wrong |= 32;
  const hid_t again = open(beside, H5F_ACC_RDONLY);
  if (!holds(again, "instead", true)) wrong |= 64;
  H5Fclose(again);
  return wrong;
}

}  // namespace forebay::testing::ranks
