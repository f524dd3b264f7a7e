// A directory with a buffer of its own and a file-access list with the connector in it. For tests.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "door/hdf5/connector.hpp"
#include "door/hdf5/info.hpp"
#include "session/session.hpp"

namespace forebay::hdf5 {

class TestHome {
 public:
  // `more` are lines of the YAML configuration.
  explicit TestHome(const std::string& more = "") {
    std::string name = "/dev/shm/forebay-hdf5-XXXXXX";
    root_ = ::mkdtemp(name.data());
    std::ofstream(path("config.yaml")) << "buffer: {directory: " << path("control") << "}\n"
                                       << "tiers: [{kind: memory, path: " << root_ << ", size: 32MiB}]\n"
                                       << more;
    connector_ = H5VLregister_connector(&connector_class(), H5P_DEFAULT);
    const ConnectorInfo info(H5VL_NATIVE, nullptr, path("config.yaml"));
    fapl_ = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_vol(fapl_, connector_, &info);
  }
  TestHome(const TestHome&) = delete;
  TestHome& operator=(const TestHome&) = delete;
  ~TestHome() {
    H5Pclose(fapl_);
    H5VLclose(connector_);
    (void)leave_all();
    std::filesystem::remove_all(root_);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }
  [[nodiscard]] hid_t fapl() const { return fapl_; }
  [[nodiscard]] hid_t create(const std::string& name) const {
    return H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl_);
  }
  [[nodiscard]] hid_t open(const std::string& name, unsigned flags = H5F_ACC_RDWR) const {
    return H5Fopen(path(name).c_str(), flags, fapl_);
  }

 private:
  std::string root_;
  hid_t connector_;
  hid_t fapl_;
};

// A dataset of integers, `count` of them, in chunks of `chunk` unless that is 0.
inline hid_t make_dataset(hid_t place, const char* name, hsize_t count, hsize_t chunk = 0) {
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk != 0) H5Pset_chunk(dcpl, 1, &chunk);
  const hid_t made = H5Dcreate2(place, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Pclose(dcpl);
  H5Sclose(space);
  return made;
}

inline herr_t write_all(hid_t dataset, const std::vector<int>& values) {
  return H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

// Natively, from home.
inline std::vector<int> read_natively(const std::string& path, const char* name, std::size_t count) {
  std::vector<int> values(count, -1);
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_file_locking(fapl, false, true);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, fapl);
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(dataset);
  H5Fclose(file);
  H5Pclose(fapl);
  return values;
}

}  // namespace forebay::hdf5
