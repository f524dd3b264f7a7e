#include <hdf5.h>

#include <cstdio>
#include <cstdlib>
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

// Does the file hold them, next to each other?
bool hold(const std::string& path, const std::vector<int>& values, std::size_t count) {
  std::ifstream raw(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(raw), {}};
  const std::string_view wanted(reinterpret_cast<const char*>(values.data()), count * sizeof(int));
  return bytes.find(wanted) != std::string::npos;
}

// Waits for all of them; did none fail?
bool all_succeed(hid_t set) {
  std::size_t left = 1;
  hbool_t failed = true;
  return H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed) >= 0 && left == 0 && !failed;
}

// What HDF5 has in its chunk cache stays there as long as another handle has the dataset open.
TEST_P(RequestTest, AWriteThroughAHandleThatWasClosedSinceIsHome) {
  const TestHome home("drain: {trigger: never}\n");
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", 1000, GetParam());
  const hid_t again = H5Dopen2(file, "x", H5P_DEFAULT);
  const auto values = counting(1000);
  const hid_t set = H5EScreate();
  ASSERT_GE(H5Dwrite_async(again, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data(), set), 0);
  H5Dclose(again);
  EXPECT_TRUE(all_succeed(set));
  EXPECT_TRUE(hold(home.path("a.h5"), values, 777));
  H5ESclose(set);
  H5Dclose(dataset);
  ASSERT_GE(H5Fclose(file), 0);
}

// After something was deleted, what is written below the end of the flushed state waits for the next flush.
TEST_P(RequestTest, AWriteThatWaitsForAFlushIsHome) {
  const TestHome home("drain: {trigger: never}\n");
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", 1000, GetParam());
  H5Dclose(make_dataset(file, "y", 1000));
  ASSERT_GE(write_all(dataset, std::vector<int>(1000, 7)), 0);
  ASSERT_GE(H5Fflush(file, H5F_SCOPE_GLOBAL), 0);
  ASSERT_GE(H5Ldelete(file, "y", H5P_DEFAULT), 0);
  const auto values = counting(1000);
  const hid_t set = H5EScreate();
  ASSERT_GE(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data(), set), 0);
  EXPECT_TRUE(all_succeed(set));
  EXPECT_TRUE(hold(home.path("a.h5"), values, 777));
  H5ESclose(set);
  H5Dclose(dataset);
  ASSERT_GE(H5Fclose(file), 0);
}

TEST_P(RequestTest, AnAsynchronousCloseDoesNotWait) {
  const TestHome home("admission: {write: always}\n");
  const hid_t file = home.create("a.h5");
  // Whoever waits for bytes still carries them.
  (*join({.config = home.path("config.yaml")}))->pause_drain(true);
  const hid_t dataset = make_dataset(file, "x", 1000, GetParam());
  const auto values = counting(1000);
  const hid_t set = H5EScreate();
  ASSERT_GE(write_all(dataset, values), 0);
  H5Dclose(dataset);
  ASSERT_GE(H5Fclose_async(file, set), 0);
  EXPECT_FALSE(hold(home.path("a.h5"), values, 777));
  // Others open it meanwhile.
  const hid_t again = home.open("a.h5", H5F_ACC_RDONLY);
  ASSERT_GE(again, 0);
  ASSERT_GE(H5Fclose(again), 0);
  EXPECT_TRUE(all_succeed(set));
  EXPECT_EQ(read_natively(home.path("a.h5"), "x", 1000), values);
  H5ESclose(set);
}

TEST_P(RequestTest, AnAsynchronousCloseMayLeaveTheFileOpen) {
  const TestHome home("drain: {trigger: never}\nadmission: {write: always}\n");
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", 1000, GetParam());
  const auto values = counting(1000);
  const hid_t set = H5EScreate();
  ASSERT_GE(H5Fclose_async(file, set), 0);
  EXPECT_TRUE(all_succeed(set));
  ASSERT_GE(write_all(dataset, values), 0);
  ASSERT_GE(H5Dclose(dataset), 0);  // and with it the file, which is waited for
  EXPECT_EQ(read_natively(home.path("a.h5"), "x", 1000), values);
  H5ESclose(set);
}

// Of the first that failed in the set.
std::string why(hid_t set) {
  H5ES_err_info_t info{};
  std::size_t told = 0;
  if (H5ESget_err_info(set, 1, &info, &told) < 0 || told != 1) return "";
  std::string words;
  const auto take = [](unsigned, const H5E_error2_t* entry, void* into) -> herr_t {
    static_cast<std::string*>(into)->append(entry->desc).append("\n");
    return 0;
  };
  H5Ewalk2(info.err_stack_id, H5E_WALK_UPWARD, take, &words);
  H5Eclose_stack(info.err_stack_id);
  H5free_memory(info.api_name);
  H5free_memory(info.api_args);
  H5free_memory(info.app_file_name);
  H5free_memory(info.app_func_name);
  return words;
}

// HDF5 cannot hand over what is in its chunk cache, and so cannot close the file either: in a process of its
// own.
[[noreturn]] void fail_in_hdf5() {
  const TestHome home;
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", 1000, 777);
  const auto values = counting(1000);
  const hid_t set = H5EScreate();
  const bool given =
      H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data(), set) >= 0;
  const bool left = leave_all().has_value();
  const bool failed = !all_succeed(set);
  std::fprintf(stderr, "%d %d %d: %s", given, left, failed, why(set).c_str());
  std::filesystem::remove_all(home.path(""));
  std::_Exit(0);
}

TEST(Request, OneThatFailsInHdf5SaysWhy) {
  EXPECT_EXIT(fail_in_hdf5(), ::testing::ExitedWithCode(0), "1 1 1: .*not attached");
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
