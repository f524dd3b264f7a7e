#include <cstdint>
#include <format>
#include <vector>

#include "hdf5/ranks/told.hpp"
#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

constexpr hsize_t kRowOfModes = 300;

struct Kind {
  const char* name;
  bool chunked;
  hid_t type;
};

// One rank may have nothing to move.
void transfer(hid_t dataset, const Kind& kind, hid_t list, bool idle) {
  const hid_t space = H5Dget_space(dataset);
  const hsize_t start[] = {static_cast<hsize_t>(rank()), 0};
  const hsize_t count[] = {1, kRowOfModes};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
  const hid_t memory = H5Screate_simple(1, &kRowOfModes, nullptr);
  if (idle) {
    H5Sselect_none(space);
    H5Sselect_none(memory);
  }
  std::vector<std::int32_t> row(kRowOfModes, rank());
  const auto wrote = H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, list, row.data());
  print_in_turn(std::format("{} write{}: {} {}", kind.name, idle ? " of nothing" : "", wrote, told(list)));
  const auto read = H5Dread(dataset, H5T_NATIVE_INT32, memory, space, list, row.data());
  print_in_turn(std::format("{} read{}: {} {}", kind.name, idle ? " of nothing" : "", read, told(list)));
  H5Sclose(memory);
  H5Sclose(space);
}

}  // namespace

int modes(const std::string& path) {
  const hid_t file = create(path);
  const hid_t list = collective_list();
  for (const Kind& kind :
       {Kind{"contiguous", false, H5T_NATIVE_INT32}, Kind{"chunked", true, H5T_NATIVE_INT32},
        Kind{"converted", false, H5T_STD_I64BE}, Kind{"chunked_converted", true, H5T_STD_I16BE}}) {
    const hsize_t dims[] = {static_cast<hsize_t>(size()), kRowOfModes};
    const hsize_t chunk[] = {1, 100};
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    if (kind.chunked) H5Pset_chunk(dcpl, 2, chunk);
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    const hid_t dataset = H5Dcreate2(file, kind.name, kind.type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    transfer(dataset, kind, list, false);
    transfer(dataset, kind, list, rank() == 0);
    // The list tells of its last transfer.
    H5Pset_dxpl_mpio(list, H5FD_MPIO_INDEPENDENT);
    transfer(dataset, kind, list, false);
    H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
    H5Pset_selection_io(list, H5D_SELECTION_IO_MODE_OFF);
    transfer(dataset, kind, list, false);
    H5Pset_selection_io(list, H5D_SELECTION_IO_MODE_DEFAULT);
    H5Pset_buffer(list, kRowOfModes, nullptr, nullptr);  // too small for a row
    transfer(dataset, kind, list, false);
    H5Pset_buffer(list, 1u << 20, nullptr, nullptr);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(dcpl);
  }
  H5Pclose(list);
  // A list that was never collective.
  const hid_t alone = H5Pcreate(H5P_DATASET_XFER);
  const hid_t dataset = H5Dopen2(file, "contiguous", H5P_DEFAULT);
  transfer(dataset, {"alone", false, H5T_NATIVE_INT32}, alone, false);
  H5Dclose(dataset);
  H5Pclose(alone);
  return H5Fclose(file) < 0 ? 1 : 0;
}

}  // namespace forebay::testing::ranks
