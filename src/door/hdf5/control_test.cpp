// The calls of <forebay/hdf5.h>, through the connector.
#include <forebay/hdf5.h>
#include <gtest/gtest.h>

#include <numeric>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/test_home.hpp"

namespace forebay::hdf5 {
namespace {

constexpr hsize_t kCount = 1'000'000;
// What HDF5's reads of metadata brought on the way is not prefetched.
constexpr std::uint64_t kAlmostAll = kCount * sizeof(int) - (1u << 20);

std::vector<int> counting() {
  std::vector<int> values(kCount);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// a.h5 with dataset x, at home and not in the buffer.
void make_file(const TestHome& home, hsize_t chunk = 0) {
  const hid_t file = H5Fcreate(home.path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t dataset = make_dataset(file, "x", kCount, chunk);
  write_all(dataset, counting());
  H5Dclose(dataset);
  H5Fclose(file);
}

std::uint64_t counted(const TestHome& home, Wide Counters::* which) {
  return (*join({.config = home.path("config.yaml")}))->core().counted(which);
}

std::vector<int> read_all(hid_t dataset) {
  std::vector<int> values(kCount, -1);
  EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  return values;
}

hsize_t room(hid_t file) {
  hsize_t size = 0;
  EXPECT_GE(H5Fquery_cache(file, H5P_DEFAULT, &size), 0);
  return size;
}

class ControlTest : public ::testing::TestWithParam<hsize_t> {};  // the size of a chunk

TEST_P(ControlTest, WhatIsPrefetchedIsReadFromTheBuffer) {
  const TestHome home("readahead: {max: 0}\n");
  make_file(home, GetParam());
  const hid_t file = home.open("a.h5", H5F_ACC_RDONLY);
  const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  ASSERT_GE(H5Dprefetch(dataset, H5S_ALL, H5P_DEFAULT), 0);
  EXPECT_GE(counted(home, &Counters::prefetched_bytes), kAlmostAll);
  const auto missed = counted(home, &Counters::miss_bytes);
  EXPECT_EQ(read_all(dataset), counting());
  EXPECT_EQ(counted(home, &Counters::miss_bytes), missed);
  H5Dclose(dataset);
  H5Fclose(file);
}

TEST_P(ControlTest, APrefetchMayRunBesideTheProgram) {
  const TestHome home("readahead: {max: 0}\n");
  make_file(home, GetParam());
  const hid_t file = home.open("a.h5", H5F_ACC_RDONLY);
  const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  const hid_t set = H5EScreate();
  ASSERT_GE(H5Dprefetch_async(dataset, H5S_ALL, H5P_DEFAULT, set), 0);
  std::size_t left = 0;
  H5ESget_count(set, &left);
  EXPECT_EQ(left, 1U);
  hbool_t failed = true;
  ASSERT_GE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed), 0);
  EXPECT_EQ(left, 0U);
  EXPECT_FALSE(failed);
  EXPECT_GE(counted(home, &Counters::prefetched_bytes), kAlmostAll);
  H5ESclose(set);
  H5Dclose(dataset);
  H5Fclose(file);
}

TEST_P(ControlTest, APrefetchMayOutliveItsFile) {
  const TestHome home;
  make_file(home, GetParam());
  const hid_t file = home.open("a.h5", H5F_ACC_RDONLY);
  const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  const hid_t set = H5EScreate();
  ASSERT_GE(H5Dprefetch_async(dataset, H5S_ALL, H5P_DEFAULT, set), 0);
  H5Dclose(dataset);
  H5Fclose(file);
  std::size_t left = 1;
  hbool_t failed = true;
  ASSERT_GE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed), 0);
  EXPECT_EQ(left, 0U);
  EXPECT_FALSE(failed);
  H5ESclose(set);
}

TEST_P(ControlTest, ATemporalCacheGoesWithItsFile) {
  const TestHome home;
  make_file(home, GetParam());
  const auto read_from_home_after = [&](int duration) {
    hid_t file = home.open("a.h5", H5F_ACC_RDONLY);
    EXPECT_GE(H5Fcache_create(file, H5P_DEFAULT, 1, FOREBAY_CACHE_READ, duration), 0);
    hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    EXPECT_GE(H5Dprefetch(dataset, H5S_ALL, H5P_DEFAULT), 0);
    H5Dclose(dataset);
    H5Fclose(file);
    const auto before = counted(home, &Counters::home_read_bytes);
    file = home.open("a.h5", H5F_ACC_RDONLY);
    dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    std::vector<int> values(kCount, -1);
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    EXPECT_EQ(values, counting());
    H5Dclose(dataset);
    H5Fclose(file);
    return counted(home, &Counters::home_read_bytes) - before;
  };
  EXPECT_LT(read_from_home_after(FOREBAY_CACHE_PERMANENT),
            1u << 20);  // metadata, and what shares a page with them
  EXPECT_GE(read_from_home_after(FOREBAY_CACHE_TEMPORAL), kAlmostAll);
}

TEST(Control, WorksWhereTheProgramChoseTheDriverToo) {
  const TestHome home;
  const DriverInfo info{.wishes = {.membership = {.config = home.path("config.yaml")}}};
  ASSERT_GE(set_driver(home.fapl(), info), 0);
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", kCount);
  ASSERT_GE(write_all(dataset, counting()), 0);
  hsize_t room = 0;
  EXPECT_GE(H5Fquery_cache(file, H5P_DEFAULT, &room), 0);
  EXPECT_NE(room, 0U);
  const hid_t list = H5Fget_access_plist(file);
  EXPECT_TRUE(has_our_driver(list));
  H5Pclose(list);
  H5Dclose(dataset);
  H5Fclose(file);
  EXPECT_EQ(read_natively(home.path("a.h5"), "x", kCount), counting());
}

TEST(Control, AProgramsDriverWithoutAConfigurationHasTheConnectors) {
  const TestHome home("drain: {trigger: never}\nadmission: {write: always}\n");
  ASSERT_GE(set_driver(home.fapl(), {}), 0);
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", kCount);
  ASSERT_GE(write_all(dataset, counting()), 0);
  EXPECT_NE(joined({.config = home.path("config.yaml")}), nullptr);
  EXPECT_GE(counted(home, &Counters::staged_bytes), kCount * sizeof(int));
  H5Dclose(dataset);
  H5Fclose(file);
}

TEST_P(ControlTest, ReadToCacheKeepsWhatAdmissionWouldNot) {
  const TestHome home("admission: {read: never}\n");
  make_file(home, GetParam());
  const hid_t file = home.open("a.h5", H5F_ACC_RDONLY);
  const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  std::vector<int> values(kCount, -1);
  ASSERT_GE(H5Dread_to_cache(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  EXPECT_EQ(values, counting());
  const auto missed = counted(home, &Counters::miss_bytes);
  values.assign(kCount, -1);
  ASSERT_GE(H5Dread_from_cache(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  EXPECT_EQ(values, counting());
  EXPECT_EQ(counted(home, &Counters::miss_bytes), missed);
  H5Dclose(dataset);
  H5Fclose(file);
}

TEST_P(ControlTest, ADatasetCanBeForgotten) {
  const TestHome home;
  make_file(home, GetParam());
  const hid_t file = home.open("a.h5", H5F_ACC_RDONLY);
  const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  const auto before = room(file);
  ASSERT_GE(H5Dprefetch(dataset, H5S_ALL, H5P_DEFAULT), 0);
  EXPECT_LE(room(file), before - kCount * sizeof(int) / 2);
  ASSERT_GE(H5Dcache_remove(dataset), 0);
  EXPECT_GE(room(file) + (1 << 20), before);
  EXPECT_EQ(read_all(dataset), counting());
  H5Dclose(dataset);
  H5Fclose(file);
}

INSTANTIATE_TEST_SUITE_P(Layout, ControlTest, ::testing::Values(0, 7777),
                         [](const auto& one) { return one.param == 0 ? "Contiguous" : "Chunked"; });

TEST(Control, RoomIsReservedAndGivenBack) {
  const TestHome home;  // of 32 MiB
  const hid_t one = home.create("a.h5");
  const hid_t other = home.create("b.h5");
  ASSERT_GE(H5Fcache_create(one, H5P_DEFAULT, 20 << 20, FOREBAY_CACHE_RDWR, FOREBAY_CACHE_TEMPORAL), 0);
  EXPECT_LE(room(other), 12U << 20);
  ASSERT_GE(H5Freserve_cache(one, H5P_DEFAULT, 10 << 20, FOREBAY_CACHE_READ, FOREBAY_CACHE_PERMANENT), 0);
  EXPECT_GT(room(other), 12U << 20);
  EXPECT_LE(room(other), 22U << 20);
  const hid_t dataset = make_dataset(one, "x", kCount);
  write_all(dataset, counting());
  ASSERT_GE(H5Dcache_create(dataset, "x"), 0);
  EXPECT_LE(room(other), (22U << 20) - kCount * sizeof(int));
  ASSERT_GE(H5Fcache_remove(one), 0);
  EXPECT_GT(room(other), 22U << 20);
  H5Dclose(dataset);
  H5Fclose(one);
  H5Fclose(other);
  EXPECT_EQ(read_natively(home.path("a.h5"), "x", kCount), counting());
}

TEST(Control, BackgroundMovementStopsAndStarts) {
  const TestHome home("drain: {delay: 0s}\n");
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", kCount);
  ASSERT_GE(H5Fcache_async_op_pause(file), 0);
  write_all(dataset, counting());
  std::filesystem::path raw = home.path("a.h5");
  EXPECT_LT(std::filesystem::file_size(raw), kCount * sizeof(int));
  ASSERT_GE(H5Fcache_async_op_start(file), 0);
  ASSERT_GE(H5Dcache_async_op_pause(dataset), 0);
  ASSERT_GE(H5Dcache_async_op_start(dataset), 0);
  ASSERT_GE(H5Fasync_pause(file), 0);
  ASSERT_GE(H5Fcache_async_close_wait(file), 0);
  EXPECT_GE(std::filesystem::file_size(raw), kCount * sizeof(int));
  ASSERT_GE(H5Fasync_start(file), 0);
  H5Dclose(dataset);
  H5Fclose(file);
}

TEST(Control, ACloseNeedNotWait) {
  const TestHome home("drain: {trigger: never}\n");
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", kCount);
  ASSERT_GE(H5Fcache_async_close_set(file), 0);
  write_all(dataset, counting());
  H5Dclose(dataset);
  (*join({.config = home.path("config.yaml")}))->pause_drain(true);
  ASSERT_GE(H5Fclose(file), 0);
  EXPECT_LT(std::filesystem::file_size(home.path("a.h5")), kCount * sizeof(int));
  (*join({.config = home.path("config.yaml")}))->pause_drain(false);
  ASSERT_GE(H5Fclose(home.open("a.h5")), 0);  // this one waits
  EXPECT_EQ(read_natively(home.path("a.h5"), "x", kCount), counting());
}

TEST(Control, ADatasetIsBroughtWhenItIsOpened) {
  for (const bool by_object : {false, true}) {
    const TestHome home("prefetch: {at_open: dataset}\nreadahead: {max: 0}\n");
    make_file(home);
    const hid_t file = home.open("a.h5", H5F_ACC_RDONLY);
    const hid_t dataset = by_object ? H5Oopen(file, "x", H5P_DEFAULT) : H5Dopen2(file, "x", H5P_DEFAULT);
    ASSERT_GE(H5Dprefetch(dataset, H5S_ALL, H5P_DEFAULT), 0);  // waits for the one under way
    EXPECT_EQ(read_all(dataset), counting());
    EXPECT_LT(counted(home, &Counters::miss_bytes), kCount);
    H5Dclose(dataset);
    H5Fclose(file);
  }
}

TEST(Control, BufferingIsSwitchedByTheList) {
  // Not by how fast home happens to be.
  const TestHome home("drain: {trigger: never}\nadmission: {write: always}\n");
  make_file(home);
  // How much is staged, and whether it is home at once, when ones are written.
  struct Seen {
    std::uint64_t staged;
    bool home;
  };
  const std::vector<int> ones(kCount, 1);
  const auto write_with = [&](hbool_t write, hbool_t read) {
    make_file(home);
    const hid_t fapl = H5Pcopy(home.fapl());
    EXPECT_GE(H5Pset_fapl_cache(fapl, "HDF5_CACHE_WR", &write), 0);
    EXPECT_GE(H5Pset_fapl_cache(fapl, "HDF5_CACHE_RD", &read), 0);
    hbool_t back = !write;
    EXPECT_GE(H5Pget_fapl_cache(fapl, "HDF5_CACHE_WR", &back), 0);
    EXPECT_EQ(back, write);
    const auto before = counted(home, &Counters::staged_bytes);
    const hid_t file = H5Fopen(home.path("a.h5").c_str(), H5F_ACC_RDWR, fapl);
    const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    EXPECT_EQ(read_all(dataset), counting());
    EXPECT_GE(write_all(dataset, ones), 0);
    const Seen seen{counted(home, &Counters::staged_bytes) - before,
                    read_natively(home.path("a.h5"), "x", kCount) == ones};
    H5Dclose(dataset);
    H5Fclose(file);
    H5Pclose(fapl);
    EXPECT_EQ(read_natively(home.path("a.h5"), "x", kCount), ones);
    return seen;
  };
  const auto on = write_with(true, true);
  EXPECT_GT(on.staged, 0U);
  EXPECT_FALSE(on.home);
  EXPECT_FALSE(write_with(true, false).home);
  EXPECT_TRUE(write_with(false, true).home);
  const auto off = write_with(false, false);
  EXPECT_EQ(off.staged, 0U);
  EXPECT_TRUE(off.home);
}

TEST(Control, AnotherFilesObjectsAreRefused) {
  const TestHome home;
  const hid_t mine = home.create("b.h5");
  make_file(home);
  const hid_t file = H5Fopen(home.path("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  H5E_auto2_t print = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &print, &data);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  EXPECT_LT(H5Dprefetch(dataset, H5S_ALL, H5P_DEFAULT), 0);
  EXPECT_EQ(H5Eget_num(H5E_DEFAULT), 1);
  EXPECT_LT(H5Fcache_remove(file), 0);
  EXPECT_EQ(H5Eget_num(H5E_DEFAULT), 1);
  hbool_t on = true;
  EXPECT_LT(H5Pset_fapl_cache(home.fapl(), "HDF5_CACHE_XY", &on), 0);
  EXPECT_LT(H5Dprefetch(H5I_INVALID_HID, H5S_ALL, H5P_DEFAULT), 0);
  H5Eset_auto2(H5E_DEFAULT, print, data);
  H5Dclose(dataset);
  H5Fclose(file);
  H5Fclose(mine);
}

}  // namespace
}  // namespace forebay::hdf5
