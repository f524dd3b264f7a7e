// Files that a program closed without waiting for home, and reaches again past the buffer or not at all.
#include <hdf5.h>

#include <numeric>

#include "door/hdf5/test_home.hpp"

namespace forebay::hdf5 {
namespace {

class KnownFileTest : public ::testing::Test {
 protected:
  static constexpr hsize_t kCount = 100'000;

  KnownFileTest() { std::iota(values_.begin(), values_.end(), 1); }
  ~KnownFileTest() override { buffer().pause_drain(false); }

  Buffer& buffer() { return **join({.config = home_.path("config.yaml")}); }
  // a.h5 with dataset x, in the latest format, of which nothing goes home by itself.
  void write_and_detach() {
    buffer().pause_drain(true);
    const hid_t fapl = list();
    const hid_t file = H5Fcreate(home_.path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    const hid_t dataset = make_dataset(file, "x", kCount);
    EXPECT_GE(write_all(dataset, values_), 0);
    H5Dclose(dataset);
    EXPECT_GE(H5Fclose(file), 0);
    H5Pclose(fapl);
    EXPECT_LT(std::filesystem::file_size(home_.path("a.h5")), kCount * sizeof(int));
  }
  hid_t list() {
    const hid_t fapl = H5Pcopy(home_.fapl());
    H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    return fapl;
  }
  void expect_whole(hid_t file) {
    std::vector<int> found(kCount, -1);
    ASSERT_GE(file, 0);
    const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
    EXPECT_EQ(found, values_);
    H5Dclose(dataset);
    H5Fclose(file);
  }

  const TestHome home_{"on_close: detach\nadmission: {write: always}\n"};
  std::vector<int> values_ = std::vector<int>(kCount);
};

TEST_F(KnownFileTest, IsHomeBeforeItIsOpenedForSwmr) {
  write_and_detach();
  const hid_t fapl = list();
  expect_whole(H5Fopen(home_.path("a.h5").c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, fapl));
  H5Pclose(fapl);
}

TEST_F(KnownFileTest, IsHomeBeforeAnotherDriverOpensIt) {
  write_and_detach();
  const hid_t fapl = list();
  H5Pset_fapl_stdio(fapl);
  expect_whole(H5Fopen(home_.path("a.h5").c_str(), H5F_ACC_RDWR, fapl));
  H5Pclose(fapl);
}

TEST_F(KnownFileTest, DeletedLeavesNothingUnsaved) {
  write_and_detach();
  EXPECT_GE(H5Fdelete(home_.path("a.h5").c_str(), home_.fapl()), 0);
  EXPECT_FALSE(std::filesystem::exists(home_.path("a.h5")));
  EXPECT_TRUE(buffer().core().files.all().empty());
}

TEST_F(KnownFileTest, DeletedByAnotherDriverLeavesNothingUnsaved) {
  write_and_detach();
  const hid_t fapl = list();
  H5Pset_fapl_stdio(fapl);
  EXPECT_GE(H5Fdelete(home_.path("a.h5").c_str(), fapl), 0);
  EXPECT_TRUE(buffer().core().files.all().empty());
  H5Pclose(fapl);
}

TEST_F(KnownFileTest, DeletedByOneNameIsSavedUnderItsOther) {
  write_and_detach();
  std::filesystem::create_hard_link(home_.path("a.h5"), home_.path("b.h5"));
  EXPECT_GE(H5Fdelete(home_.path("a.h5").c_str(), home_.fapl()), 0);
  expect_whole(home_.open("b.h5", H5F_ACC_RDONLY));
}

}  // namespace
}  // namespace forebay::hdf5
