#include "door/hdf5/dataset_ranges.hpp"

#include "door/hdf5/test_dataset.hpp"

namespace forebay::hdf5 {
namespace {

using Ranges = std::vector<FileRange>;

std::expected<Ranges, Reason> ask_ranges(hid_t dataset, hid_t space = H5S_ALL) {
  return within_hdf5(dataset,
                     [&](void* under, hid_t connector) { return ranges_of(under, connector, space); });
}

class DatasetRanges : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_alignment(fapl, 1, 1 << 20);  // chunks far from each other
    file_ = H5Fcreate(path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
  }
  void TearDown() override {
    H5Fclose(file_);
    FolderTest::TearDown();
  }
  // 64 x 64 integers, in chunks of 32 x 32 if so wished; written.
  [[nodiscard]] hid_t make(const char* name, bool chunked, bool filtered = false, hid_t dcpl = -1) const {
    const hsize_t dims[] = {64, 64};
    const hsize_t chunk[] = {32, 32};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    if (dcpl < 0) dcpl = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked) H5Pset_chunk(dcpl, 2, chunk);
    if (filtered) H5Pset_deflate(dcpl, 1);
    const hid_t made = H5Dcreate2(file_, name, H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    const std::vector<int> zeros(64 * 64);
    H5Dwrite(made, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data());
    H5Pclose(dcpl);
    H5Sclose(space);
    return made;
  }
  hid_t file_ = -1;
};

Hid slab(hid_t dataset, std::array<hsize_t, 2> start, std::array<hsize_t, 2> count) {
  Hid space(H5Dget_space(dataset));
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  return space;
}

TEST_F(DatasetRanges, ContiguousIsOneRange) {
  const Hid dataset(make("x", false));
  const auto at = H5Dget_offset(dataset.get());
  EXPECT_EQ(ask_ranges(dataset.get()), Ranges({{at, 64 * 64 * 4}}));
  EXPECT_EQ(ask_ranges(dataset.get(), slab(dataset.get(), {2, 0}, {3, 64}).get()),
            Ranges({{at + 2 * 64 * 4, 3 * 64 * 4}}));
  // Rows that are near each other are one range: a little more is brought than asked for.
  EXPECT_EQ(ask_ranges(dataset.get(), slab(dataset.get(), {0, 1}, {2, 3}).get()),
            Ranges({{at + 4, 64 * 4 + 3 * 4}}));
  const Hid none(H5Dget_space(dataset.get()));
  H5Sselect_none(none.get());
  EXPECT_EQ(ask_ranges(dataset.get(), none.get()), Ranges());
}

TEST_F(DatasetRanges, ChunksAreTakenWhole) {
  for (const bool filtered : {false, true}) {
    const Hid dataset(make(filtered ? "filtered" : "plain", true, filtered));
    Ranges chunks;
    for (hsize_t i = 0; i < 4; ++i) {
      haddr_t at = 0;
      hsize_t size = 0;
      H5Dget_chunk_info(dataset.get(), H5S_ALL, i, nullptr, nullptr, &at, &size);
      chunks.push_back({at, size});
    }
    EXPECT_EQ(chunks[0].length == 4096, !filtered);
    EXPECT_EQ(ask_ranges(dataset.get()), chunks);
    EXPECT_EQ(ask_ranges(dataset.get(), slab(dataset.get(), {40, 40}, {1, 1}).get()), Ranges({chunks[3]}));
    EXPECT_EQ(ask_ranges(dataset.get(), slab(dataset.get(), {0, 31}, {1, 2}).get()),
              Ranges({chunks[0], chunks[1]}));
  }
}

TEST_F(DatasetRanges, WhatHasNoPlaceInTheFileHasNone) {
  const hid_t compact = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_layout(compact, H5D_COMPACT);
  EXPECT_EQ(ask_ranges(Hid(make("compact", false, false, compact)).get()), Ranges());
  const hid_t external = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(external, path("raw").c_str(), 0, H5F_UNLIMITED);
  EXPECT_EQ(ask_ranges(Hid(make("external", false, false, external)).get()),
            std::unexpected(Reason::kExternal));
  const hsize_t size = 10;
  const Hid space(H5Screate_simple(1, &size, nullptr));
  const Hid unwritten(
      H5Dcreate2(file_, "unwritten", H5T_STD_I32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_EQ(ask_ranges(unwritten.get()), Ranges());
  // A selection of something of another shape.
  EXPECT_EQ(ask_ranges(Hid(make("x", false)).get(), space.get()), std::unexpected(Reason::kSelection));
}

}  // namespace
}  // namespace forebay::hdf5
