#include <hdf5.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

constexpr hsize_t kRowOfUneven = 500;
constexpr int kTurns = 12;

class Uneven {
 public:
  // Every third seed reads metadata collectively.
  Uneven(std::string path, unsigned seed)
      : path_(std::move(path)),
        collective_metadata_(seed % 3 == 0),
        together_(seed),
        apart_(seed * 31 + static_cast<unsigned>(rank())),
        file_(create(path_, collective_metadata_)),
        collective_(collective_list()) {}

  int run() {
    for (int turn = 0; turn < kTurns; ++turn) {
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
      if (!expected_.empty()) left_[turn] = expected_;
      if (dataset_ >= 0) H5Dclose(dataset_);
      dataset_ = H5I_INVALID_HID;
    }
    if (H5Fclose(file_) < 0) wrong_ += 1;
    read_back();
    H5Pclose(collective_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  void make(int turn) {
    rows_ = static_cast<hsize_t>(size()) * 4;
    const hsize_t dims[] = {rows_, kRowOfUneven};
    const hsize_t most[] = {H5S_UNLIMITED, kRowOfUneven};
    const hsize_t chunk[] = {3, 200};
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    chunked_ = turn % 2 == 1;
    if (chunked_) H5Pset_chunk(dcpl, 2, chunk);
    const hid_t space = H5Screate_simple(2, dims, chunked_ ? most : nullptr);
    // Whether HDF5 writes fill values decides whether ranks meet.
    if (turn % 3 == 1) H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
    if (turn % 6 == 5) H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    dataset_ = H5Dcreate2(file_, name(turn).c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
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
    const hsize_t start[] = {static_cast<hsize_t>(rank()) * 4, 0};
    const hsize_t count[] = {4, kRowOfUneven};
    const hid_t space = H5Dget_space(dataset_);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    const hid_t memory = H5Screate_simple(2, count, nullptr);
    if (writing) {
      expected_.assign(4 * kRowOfUneven, static_cast<std::int32_t>(apart_()));
      if (H5Dwrite(dataset_, H5T_NATIVE_INT32, memory, space, transfer, expected_.data()) < 0) wrong_ += 1;
    } else {
      std::vector<std::int32_t> found(4 * kRowOfUneven);
      if (H5Dread(dataset_, H5T_NATIVE_INT32, memory, space, transfer, found.data()) < 0) wrong_ += 1;
      if (found != expected_) wrong_ += 1;
    }
    H5Sclose(memory);
    H5Sclose(space);
  }
  // To read only, where the other cache is at work.
  void read_back() {
    file_ = open(path_, H5F_ACC_RDONLY, collective_metadata_);
    for (int turn = 0; turn < kTurns; ++turn) {
      if (dropped_.contains(turn)) continue;
      dataset_ = H5Dopen2(file_, name(turn).c_str(), H5P_DEFAULT);
      expected_ = left_[turn];
      const auto amount = expected_.empty() ? 0 : apart_() % 4;
      for (unsigned i = 0; i < amount; ++i) move(H5P_DEFAULT, false);
      if (together_() % 3 == 0) together(turn);
      H5Dclose(dataset_);
    }
    if (H5Fclose(file_) < 0) wrong_ += 1;
  }
  // A rank that wrote nothing does not know what it will find.
  void together(int turn) {
    const bool knows = left_.contains(turn) && !left_[turn].empty();
    const auto before = wrong_;
    move(collective_, false);
    if (!knows) wrong_ = before;
  }
  void check() {
    if (!expected_.empty()) move(H5P_DEFAULT, false);
  }
  void extend() {
    if (!chunked_) return;
    rows_ += 3;
    const hsize_t dims[] = {rows_, kRowOfUneven};
    if (H5Dset_extent(dataset_, dims) < 0) wrong_ += 1;
  }
  void drop(int turn) {
    // HDF5's own: what is open and no longer served is looked up alone, where metadata are read together.
    if (turn == 0 || collective_metadata_) return;
    H5Ldelete(file_, name(turn - 1).c_str(), H5P_DEFAULT);
    left_.erase(turn - 1);
    dropped_.insert(turn - 1);
  }
  static std::string name(int turn) { return "t" + std::to_string(turn); }

  const std::string path_;
  const bool collective_metadata_;
  std::minstd_rand together_;
  std::minstd_rand apart_;
  hid_t file_;
  const hid_t collective_;
  hid_t dataset_ = H5I_INVALID_HID;
  std::map<int, std::vector<std::int32_t>> left_;  // by turn: this rank's rows of what is still there
  std::set<int> dropped_;
  bool chunked_ = false;
  hsize_t rows_ = 0;
  std::vector<std::int32_t> expected_;
  int wrong_ = 0;
};

}  // namespace

int uneven(const std::string& path, unsigned seed) { return Uneven(path, seed).run(); }

}  // namespace forebay::testing::ranks
