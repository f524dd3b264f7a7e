#include <hdf5.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "hdf5/faults/verbs.hpp"

namespace forebay::testing::faults {

#ifdef H5_HAVE_PARALLEL
namespace {

constexpr hsize_t kRow = 500;

class Uneven {
 public:
  Uneven(const std::string& path, unsigned seed) : together_(seed), apart_(seed) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    apart_.seed(seed * 31 + static_cast<unsigned>(rank_));
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
    collective_ = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(collective_, H5FD_MPIO_COLLECTIVE);
  }

  int run() {
    for (int turn = 0; turn < 12; ++turn) {
      make(turn);
      work_apart();
      // The same on all ranks.
      switch (together_() % 5) {
        case 0:
          H5Fflush(file_, H5F_SCOPE_LOCAL);
          break;
        case 1:
          extend();
          break;
        case 2:
          move(collective_, true);
          break;
        case 3:
          drop(turn);
          break;
        default:
          break;
      }
      work_apart();
      check();
      if (dataset_ >= 0) H5Dclose(dataset_);
      dataset_ = H5I_INVALID_HID;
    }
    H5Pclose(collective_);
    if (H5Fclose(file_) < 0) wrong_ += 1;
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  void make(int turn) {
    rows_ = static_cast<hsize_t>(ranks_) * 4;
    const hsize_t dims[] = {rows_, kRow};
    const hsize_t most[] = {H5S_UNLIMITED, kRow};
    const hsize_t chunk[] = {3, 200};
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    chunked_ = turn % 2 == 1;
    if (chunked_) H5Pset_chunk(dcpl, 2, chunk);
    const hid_t space = H5Screate_simple(2, dims, chunked_ ? most : nullptr);
    dataset_ = H5Dcreate2(file_, ("t" + std::to_string(turn)).c_str(), H5T_STD_I32LE, space, H5P_DEFAULT,
                          dcpl, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(dcpl);
    expected_.clear();
  }
  // Independent reads and writes of this rank's rows, some of them slow.
  void work_apart() {
    const auto amount = apart_() % 6;
    for (unsigned i = 0; i < amount; ++i) {
      if (apart_() % 4 == 0) ::usleep(static_cast<useconds_t>(apart_() % 3000));
      move(H5P_DEFAULT, apart_() % 2 == 0 || expected_.empty());
    }
  }
  void move(hid_t transfer, bool writing) {
    if (dataset_ < 0) return;
    const hsize_t start[] = {static_cast<hsize_t>(rank_) * 4, 0};
    const hsize_t count[] = {4, kRow};
    const hid_t space = H5Dget_space(dataset_);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    const hid_t memory = H5Screate_simple(2, count, nullptr);
    if (writing) {
      expected_.assign(4 * kRow, static_cast<std::int32_t>(apart_()));
      if (H5Dwrite(dataset_, H5T_NATIVE_INT32, memory, space, transfer, expected_.data()) < 0) wrong_ += 1;
    } else {
      std::vector<std::int32_t> found(4 * kRow);
      if (H5Dread(dataset_, H5T_NATIVE_INT32, memory, space, transfer, found.data()) < 0) wrong_ += 1;
      if (found != expected_) wrong_ += 1;
    }
    H5Sclose(memory);
    H5Sclose(space);
  }
  void check() {
    if (!expected_.empty()) move(H5P_DEFAULT, false);
  }
  void extend() {
    if (!chunked_) return;
    rows_ += 3;
    const hsize_t dims[] = {rows_, kRow};
    if (H5Dset_extent(dataset_, dims) < 0) wrong_ += 1;
  }
  void drop(int turn) {
    if (turn == 0) return;
    H5Ldelete(file_, ("t" + std::to_string(turn - 1)).c_str(), H5P_DEFAULT);
  }

  std::minstd_rand together_;
  std::minstd_rand apart_;
  int rank_ = 0;
  int ranks_ = 1;
  hid_t file_ = H5I_INVALID_HID;
  hid_t dataset_ = H5I_INVALID_HID;
  hid_t collective_ = H5I_INVALID_HID;
  bool chunked_ = false;
  hsize_t rows_ = 0;
  std::vector<std::int32_t> expected_;
  int wrong_ = 0;
};

}  // namespace

int uneven(const std::string& path, unsigned seed) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
  const int code = Uneven(path, seed).run();
  MPI_Finalize();
  return code;
}
#else
int uneven(const std::string&, unsigned) { return 2; }
#endif

}  // namespace forebay::testing::faults
