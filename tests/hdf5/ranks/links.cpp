#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
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

// Does the file at home, seen past HDF5, hold this rank's part of a dataset that starts at `offset`?
bool is_home(const std::string& path, haddr_t offset, std::int32_t value) {
  std::vector<std::int32_t> found(kPart);
  std::ifstream home(path, std::ios::binary);
  home.seekg(
      static_cast<std::streamoff>(offset + kPart * sizeof(std::int32_t) * static_cast<hsize_t>(rank())));
  home.read(reinterpret_cast<char*>(found.data()),
            static_cast<std::streamsize>(kPart * sizeof(std::int32_t)));
  return home && found == std::vector(kPart, value);
}

// Overwrites this rank's part of a dataset, and looks for it where `carry_home` must have brought it.
template <class Carry>
bool arrives(const std::string& path, hid_t dataset, std::int32_t value, const Carry& carry_home) {
  const auto offset = H5Dget_offset(dataset);  // which brings home what is there by then
  const std::vector<std::int32_t> mine(kPart, value);
  const auto wrote = move_mine(dataset, [&](hid_t memory, hid_t space) {
    return H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, mine.data());
  });
  return wrote >= 0 && carry_home() >= 0 && is_home(path, offset, value);
}

// The image of a file holds what was just written.
bool image_shows(hid_t file, hid_t dataset, std::int32_t value) {
  const auto offset = H5Dget_offset(dataset) + kPart * sizeof(std::int32_t) * static_cast<hsize_t>(rank());
  const std::vector<std::int32_t> mine(kPart, value);
  const auto wrote = move_mine(dataset, [&](hid_t memory, hid_t space) {
    return H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, mine.data());
  });
  std::vector<std::byte> image(
      static_cast<std::size_t>(std::max<ssize_t>(H5Fget_file_image(file, nullptr, 0), 0)));
  if (wrote < 0 || H5Fget_file_image(file, image.data(), image.size()) < 0) return false;
  const auto end = offset + kPart * sizeof(std::int32_t);
  return end <= image.size() &&
         std::memcmp(image.data() + offset, mine.data(), kPart * sizeof(std::int32_t)) == 0;
}

}  // namespace

// A flush of a file reaches what is mounted in it, and one of an object the file that it lies in.
int flushes(const std::string& path) {
  const std::string beside = path + ".beside";
  const hid_t file = create(path);
  const hid_t other = create(beside);
  H5Gclose(H5Gcreate2(file, "mounted", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const hid_t dataset = make(other, "data", kPart * static_cast<hsize_t>(size()));
  const hid_t own = make(file, "data", kPart * static_cast<hsize_t>(size()));
  int wrong = 0;
  if (!arrives(path, own, 5, [&] { return H5Fflush(file, H5F_SCOPE_LOCAL); })) wrong |= 1;
  if (!image_shows(file, own, 6)) wrong |= 2;
  if (!arrives(path, own, 9, [&] { return H5Dget_offset(own) == HADDR_UNDEF ? -1 : 0; })) wrong |= 64;
  if (H5Fmount(file, "mounted", other, H5P_DEFAULT) < 0) wrong |= 4;
  if (!arrives(beside, dataset, 7, [&] { return H5Fflush(file, H5F_SCOPE_GLOBAL); })) wrong |= 8;
  const hid_t again = H5Dopen2(file, "mounted/data", H5P_DEFAULT);
  if (!arrives(beside, again, 8, [&] { return H5Fflush(again, H5F_SCOPE_LOCAL); })) wrong |= 16;
  H5Dclose(again);
  H5Funmount(file, "mounted");
  H5Dclose(own);
  H5Dclose(dataset);
  if (H5Fclose(other) < 0 || H5Fclose(file) < 0) wrong |= 32;
  return wrong;
}

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
