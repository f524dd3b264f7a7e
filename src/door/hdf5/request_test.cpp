#include <hdf5.h>

#include <numeric>

#include "door/hdf5/test_home.hpp"

namespace forebay::hdf5 {
namespace {

std::vector<int> counting(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

class RequestTest : public ::testing::TestWithParam<hsize_t> {};  // the size of a chunk

TEST_P(RequestTest, AWriteCompletesWhenItsBytesAreHome) {
  const TestHome home("drain: {trigger: never}\n");
  const hid_t file = home.create("a.h5");
  ASSERT_GE(file, 0);
  const hid_t dataset = make_dataset(file, "x", 100'000, GetParam());
  const auto values = counting(100'000);
  const hid_t set = H5EScreate();
  ASSERT_GE(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data(), set), 0);
  std::size_t count = 0;
  H5ESget_count(set, &count);
  EXPECT_EQ(count, 1U);
  std::size_t left = 1;
  hbool_t failed = true;
  ASSERT_GE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed), 0);
  EXPECT_EQ(left, 0U);
  EXPECT_FALSE(failed);
  // Its metadata may still be HDF5's own: look for the bytes.
  std::ifstream raw(home.path("a.h5"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(raw), {}};
  const std::string_view begin(reinterpret_cast<const char*>(values.data()), 4096);
  EXPECT_NE(bytes.find(begin), std::string::npos);
  H5ESclose(set);
  H5Dclose(dataset);
  ASSERT_GE(H5Fclose(file), 0);
  EXPECT_EQ(read_natively(home.path("a.h5"), "x", values.size()), values);
}

TEST_P(RequestTest, OneThatOutlivesItsFileKnowsHowThatEnded) {
  const TestHome home;
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", 1000, GetParam());
  const auto values = counting(1000);
  const hid_t set = H5EScreate();
  ASSERT_GE(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data(), set), 0);
  H5Dclose(dataset);
  ASSERT_GE(H5Fclose(file), 0);
  std::size_t left = 1;
  hbool_t failed = true;
  ASSERT_GE(H5ESwait(set, 0, &left, &failed), 0);
  EXPECT_EQ(left, 0U);
  EXPECT_FALSE(failed);
  H5ESclose(set);
}

INSTANTIATE_TEST_SUITE_P(Layout, RequestTest, ::testing::Values(0, 777),
                         [](const auto& one) { return one.param == 0 ? "Contiguous" : "Chunked"; });

TEST(Request, FlushingAndReadingMayBeAsynchronousToo) {
  const TestHome home;
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", 1000);
  ASSERT_GE(write_all(dataset, counting(1000)), 0);
  const hid_t set = H5EScreate();
  ASSERT_GE(H5Fflush_async(file, H5F_SCOPE_GLOBAL, set), 0);
  std::vector<int> back(1000);
  ASSERT_GE(H5Dread_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back.data(), set), 0);
  std::size_t left = 1;
  hbool_t failed = true;
  ASSERT_GE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed), 0);
  EXPECT_EQ(left, 0U);
  EXPECT_FALSE(failed);
  EXPECT_EQ(back, counting(1000));
  EXPECT_EQ(read_natively(home.path("a.h5"), "x", 1000), counting(1000));
  H5ESclose(set);
  H5Dclose(dataset);
  ASSERT_GE(H5Fclose(file), 0);
}

}  // namespace
}  // namespace forebay::hdf5
