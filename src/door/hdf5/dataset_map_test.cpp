// Which datasets and calls are taken, and which are left to HDF5.
#include "door/hdf5/dataset_map.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <vector>

#include "base/format.hpp"
#include "door/hdf5/test_dataset.hpp"

namespace forebay::hdf5 {
namespace {

class DatasetMapTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    file_ = Hid(H5Fcreate(path("r.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    creation_ = Hid(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_alloc_time(creation_.get(), H5D_ALLOC_TIME_EARLY);
  }
  void TearDown() override {
    file_ = Hid();
    FolderTest::TearDown();
  }
  Hid dataset(hid_t type, std::vector<hsize_t> dims, std::vector<hsize_t> limits = {}) {
    const Hid space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(),
                                     limits.empty() ? nullptr : limits.data()));
    return Hid(H5Dcreate2(file_.get(), format_text("d{}", ++made_).c_str(), type, space.get(), H5P_DEFAULT,
                          creation_.get(), H5P_DEFAULT));
  }
  void expect_refused(const Hid& dataset, Reason reason, bool writable = true) {
    const auto map = map_of(dataset.get(), writable);
    ASSERT_FALSE(map);
    EXPECT_EQ(words(map.error()), words(reason));
    EXPECT_FALSE(of_one_call(map.error()));
  }
  Hid file_;
  Hid creation_;
  int made_ = 0;
};

TEST_F(DatasetMapTest, RefusesLayouts) {
  const hsize_t chunk = 4;
  H5Pset_layout(creation_.get(), H5D_COMPACT);
  expect_refused(dataset(H5T_STD_I32LE, {10}), Reason::kCompact);
  H5Pset_chunk(creation_.get(), 1, &chunk);
  H5Pset_deflate(creation_.get(), 1);
  expect_refused(dataset(H5T_STD_I32LE, {10}), Reason::kFiltered);
  creation_ = Hid(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_external(creation_.get(), path("outside").c_str(), 0, 40);
  expect_refused(dataset(H5T_STD_I32LE, {10}), Reason::kExternal);
  creation_ = Hid(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t ten = 10;
  const Hid space(H5Screate_simple(1, &ten, nullptr));
  H5Pset_virtual(creation_.get(), space.get(), ".", "d1", space.get());
  expect_refused(dataset(H5T_STD_I32LE, {10}), Reason::kVirtual);
}

TEST_F(DatasetMapTest, RefusesTypes) {
  const Hid list(H5Tvlen_create(H5T_STD_I32LE));
  const Hid words(text(H5T_VARIABLE, H5T_STR_NULLTERM));
  expect_refused(dataset(list.get(), {3}), Reason::kVariableLength);
  expect_refused(dataset(words.get(), {3}), Reason::kVariableLength);
  expect_refused(dataset(H5T_STD_REF, {3}), Reason::kReference);
  expect_refused(dataset(H5T_STD_REF_OBJ, {3}), Reason::kReference);
  const Hid record(compound({{"a", H5T_STD_I32LE}, {"s", array(words.get(), 2)}}));
  expect_refused(dataset(record.get(), {3}), Reason::kVariableLength);
}

TEST_F(DatasetMapTest, RefusesStorage) {
  expect_refused(dataset(H5T_STD_I32LE, {3, 0}), Reason::kNoElements);
  H5Pset_alloc_time(creation_.get(), H5D_ALLOC_TIME_LATE);
  expect_refused(dataset(H5T_STD_I32LE, {10}), Reason::kNotAllocated);
  const hsize_t chunk = 4;
  H5Pset_chunk(creation_.get(), 1, &chunk);
  H5Pset_alloc_time(creation_.get(), H5D_ALLOC_TIME_INCR);
  expect_refused(dataset(H5T_STD_I32LE, {10}, {H5S_UNLIMITED}), Reason::kNotAllocated);
}

TEST_F(DatasetMapTest, RefusesNotAllocatedWithUserBlock) {
  const Hid creation(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_userblock(creation.get(), 512);
  file_ = Hid(H5Fcreate(path("u.h5").c_str(), H5F_ACC_TRUNC, creation.get(), H5P_DEFAULT));
  H5Pset_alloc_time(creation_.get(), H5D_ALLOC_TIME_LATE);
  expect_refused(dataset(H5T_STD_I32LE, {10}), Reason::kNotAllocated);
}

TEST_F(DatasetMapTest, PlanRefusesCalls) {
  const auto data = dataset(H5T_STD_I32LE, {10});
  const auto map = map_of(data.get());
  ASSERT_TRUE(map);
  std::array<int, 20> memory{};
  const auto reason = [&](hid_t type, hid_t memory_space, hid_t file_space, hid_t transfer, void* at) {
    const auto plan =
        Transfer::plan(*map, {type, memory_space, file_space, transfer}, at, Transfer::Direction::kWrite);
    if (plan) return std::string("none");
    EXPECT_TRUE(of_one_call(plan.error()));
    return std::string(words(plan.error()));
  };
  const Hid properties(H5Pcreate(H5P_DATASET_XFER));
  EXPECT_EQ(reason(H5T_STD_I32LE, H5S_ALL, H5S_ALL, properties.get(), memory.data()), "none");
  H5Pset_data_transform(properties.get(), "2*x");
  EXPECT_EQ(reason(H5T_STD_I32LE, H5S_ALL, H5S_ALL, properties.get(), memory.data()),
            words(Reason::kTransform));
  EXPECT_EQ(reason(H5T_STD_I32LE, H5S_ALL, H5S_PLIST, H5P_DEFAULT, memory.data()),
            words(Reason::kSelectionInPlist));
  EXPECT_EQ(reason(H5T_STD_I32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, nullptr), words(Reason::kNoBuffer));
  EXPECT_EQ(reason(Hid(text(7, H5T_STR_NULLTERM)).get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, memory.data()),
            words(Reason::kNoConversion));
  const hsize_t twelve = 12;
  const Hid longer(H5Screate_simple(1, &twelve, nullptr));
  EXPECT_EQ(reason(H5T_STD_I32LE, longer.get(), H5S_ALL, H5P_DEFAULT, memory.data()),
            words(Reason::kSelection));
  EXPECT_EQ(reason(H5T_STD_I32LE, H5S_ALL, longer.get(), H5P_DEFAULT, memory.data()),
            words(Reason::kSelection));
}

TEST_F(DatasetMapTest, TakesCommittedTypes) {
  const Hid type(compound({{"a", H5T_STD_I32LE}, {"b", H5T_IEEE_F64LE}}));
  ASSERT_GE(H5Tcommit2(file_.get(), "type", type.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
  const auto data = dataset(type.get(), {10});
  const auto map = map_of(data.get());
  ASSERT_TRUE(map) << words(map.error());
  std::array<char, 120> memory{};
  EXPECT_TRUE(Transfer::plan(*map, {type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT}, memory.data(),
                             Transfer::Direction::kWrite));
}

// Chunks that were never written: readers see the fill value, writers are refused.
TEST_F(DatasetMapTest, TakesHolesForReaders) {
  const hsize_t chunk[] = {4, 3};
  H5Pset_chunk(creation_.get(), 2, chunk);
  H5Pset_alloc_time(creation_.get(), H5D_ALLOC_TIME_INCR);
  const std::int32_t fill = 4711;
  H5Pset_fill_value(creation_.get(), H5T_NATIVE_INT32, &fill);
  const auto data = dataset(H5T_STD_I32BE, {10, 10});
  const hsize_t start[] = {5, 2};
  const hsize_t count[] = {3, 5};
  const hsize_t dims[] = {10, 10};
  const Hid space(H5Screate_simple(2, dims, nullptr));
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, count, nullptr);
  std::array<std::int32_t, 100> memory{};
  for (int i = 0; i < 100; ++i) memory[static_cast<std::size_t>(i)] = i;
  H5Dwrite(data.get(), H5T_NATIVE_INT32, space.get(), space.get(), H5P_DEFAULT, memory.data());
  H5Fflush(file_.get(), H5F_SCOPE_GLOBAL);
  expect_refused(data, Reason::kPartlyAllocated);
  const auto map = map_of(data.get(), false);
  ASSERT_TRUE(map) << words(map.error());
  for (const hid_t type : {H5T_STD_I32BE, H5T_NATIVE_DOUBLE}) {
    std::array<double, 100> expected{}, actual{};
    H5Dread(data.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, expected.data());
    auto transfer = Transfer::plan(*map, {type, H5S_ALL, H5S_ALL, H5P_DEFAULT}, actual.data(),
                                   Transfer::Direction::kRead);
    ASSERT_TRUE(transfer);
    PlainFile raw(path("r.h5"));
    ASSERT_TRUE(transfer->read(actual.data(), raw));
    EXPECT_EQ(expected, actual);
  }
}

// The caller's memory is handed on as it is, in as few pieces as the file has.
TEST_F(DatasetMapTest, NothingIsPackedWithoutNeed) {
  const hsize_t chunk[] = {16, 64};
  H5Pset_chunk(creation_.get(), 2, chunk);
  const auto data = dataset(H5T_STD_I32LE, {64, 64});
  const auto map = map_of(data.get());
  ASSERT_TRUE(map);
  std::vector<std::int32_t> memory(64 * 64);
  class Watch : public PlainFile {
   public:
    Watch(const std::string& path, const void* from) : PlainFile(path), from_(from) {}
    Status write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      EXPECT_EQ(static_cast<const void*>(bytes.data()), from_) << "not the caller's memory";
      from_ = bytes.data() + bytes.size();
      return PlainFile::write(offset, bytes);
    }

   private:
    const void* from_;
  } raw(path("r.h5"), memory.data());
  auto transfer = Transfer::plan(*map, {H5T_STD_I32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT}, memory.data(),
                                 Transfer::Direction::kWrite);
  ASSERT_TRUE(transfer->write(memory.data(), raw));
  EXPECT_LE(raw.writes, 4) << "a chunk as wide as the dataset is one piece";
}

TEST_F(DatasetMapTest, GrowsWithItsDataset) {
  const std::array<hsize_t, 2> chunk{3, 4};
  H5Pset_chunk(creation_.get(), 2, chunk.data());
  const auto grows = dataset(H5T_STD_I32LE, {5, 4}, {H5S_UNLIMITED, H5S_UNLIMITED});
  auto map = map_of(grows.get());
  ASSERT_TRUE(map);
  const auto pieces = [](const DatasetMap& of) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    of.locate(0, of.elements(),
              [&](std::uint64_t at, std::uint64_t length) { all.emplace_back(at, length); });
    return all;
  };
  // Along the slow dimension, the fast one, within a chunk, and both.
  for (const std::array<hsize_t, 2>& dims :
       {std::array<hsize_t, 2>{11, 4}, {11, 9}, {11, 10}, {12, 10}, {40, 33}}) {
    ASSERT_GE(H5Dset_extent(grows.get(), dims.data()), 0);
    const auto grown = within_hdf5(
        grows.get(), [&](void* under, hid_t connector) { return map->grow(under, connector, true); });
    ASSERT_TRUE(grown);
    const auto anew = map_of(grows.get());
    ASSERT_TRUE(anew);
    EXPECT_EQ(map->elements(), dims[0] * dims[1]);
    EXPECT_EQ(pieces(*map), pieces(*anew));
  }
}

}  // namespace
}  // namespace forebay::hdf5
