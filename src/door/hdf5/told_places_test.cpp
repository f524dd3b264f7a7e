// Who is told where data lie looks there by himself.
#include <hdf5.h>
#include <unistd.h>

#include <numeric>

#include "door/hdf5/test_home.hpp"

namespace forebay::hdf5 {
namespace {

class ToldPlacesTest : public ::testing::Test {
 protected:
  static constexpr hsize_t kCount = 100'000;

  ToldPlacesTest() { std::iota(values_.begin(), values_.end(), 1); }
  // Dataset x, all of which is the driver's by now and nothing of which is home.
  hid_t write(hid_t file, hsize_t chunk = 0) {
    const hid_t dataset = make_dataset(file, "x", kCount, chunk);
    EXPECT_GE(write_all(dataset, values_), 0);
    return dataset;
  }
  // Does the file hold all values from there on?
  bool are_at(const std::string& name, haddr_t offset) {
    std::vector<int> found(kCount, -1);
    std::ifstream raw(home_.path(name), std::ios::binary);
    raw.seekg(static_cast<std::streamoff>(offset));
    raw.read(reinterpret_cast<char*>(found.data()), kCount * sizeof(int));
    return found == values_;
  }

  const TestHome home_{"drain: {trigger: never}\nadmission: {write: always}\n"};
  std::vector<int> values_ = std::vector<int>(kCount);
};

TEST_F(ToldPlacesTest, WhereItBegins) {
  const hid_t file = home_.create("a.h5");
  const hid_t dataset = write(file);
  EXPECT_TRUE(are_at("a.h5", H5Dget_offset(dataset)));
  H5Dclose(dataset);
  H5Fclose(file);
}

TEST_F(ToldPlacesTest, OfAnotherFileThroughALink) {
  const hid_t beside = home_.create("b.h5");
  H5Dclose(write(beside));
  const hid_t file = home_.create("a.h5");
  H5Lcreate_external(home_.path("b.h5").c_str(), "/x", file, "y", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, "y", H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  EXPECT_TRUE(are_at("b.h5", H5Dget_offset(dataset)));
  H5Dclose(dataset);
  H5Fclose(file);
  H5Fclose(beside);
}

TEST_F(ToldPlacesTest, OfAMountedFilesChunks) {
  const hid_t beside = home_.create("b.h5");
  H5Dclose(write(beside, kCount));
  const hid_t file = home_.create("a.h5");
  H5Gclose(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  ASSERT_GE(H5Fmount(file, "g", beside, H5P_DEFAULT), 0);
  const hid_t dataset = H5Dopen2(file, "g/x", H5P_DEFAULT);
  haddr_t at = HADDR_UNDEF;
  hsize_t size = 0;
  ASSERT_GE(H5Dget_chunk_info(dataset, H5S_ALL, 0, nullptr, nullptr, &at, &size), 0);
  EXPECT_TRUE(are_at("b.h5", at));
  H5Dclose(dataset);
  H5Funmount(file, "g");
  H5Fclose(file);
  H5Fclose(beside);
}

TEST_F(ToldPlacesTest, OfTheWholeByItsDescriptor) {
  const hid_t file = home_.create("a.h5");
  const hid_t dataset = write(file);
  const auto offset = H5Dget_offset(dataset);
  values_.assign(kCount, 5);
  ASSERT_GE(write_all(dataset, values_), 0);
  void* handle = nullptr;
  ASSERT_GE(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), 0);
  std::vector<int> found(kCount, -1);
  const auto bytes = kCount * sizeof(int);
  EXPECT_EQ(::pread(*static_cast<int*>(handle), found.data(), bytes, static_cast<off_t>(offset)),
            static_cast<ssize_t>(bytes));
  EXPECT_EQ(found, values_);
  H5Dclose(dataset);
  H5Fclose(file);
}

}  // namespace
}  // namespace forebay::hdf5
