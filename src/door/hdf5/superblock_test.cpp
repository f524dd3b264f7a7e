#include "door/hdf5/superblock.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>
#include <iterator>
#include <string>

#include "os/temporary_directory.hpp"

namespace forebay::hdf5 {
namespace {

std::vector<std::byte> begin_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  text.resize(kMostSuperblock);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

hid_t make(const std::string& path, H5F_libver_t version) {
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(fapl, version, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  H5Pclose(fapl);
  return file;
}

// HDF5 itself is asked what the superblock is before and after a close.
TEST(Superblock, IsWhatHdf5MakesOfItAtClose) {
  const TemporaryDirectory place;
  const auto path = place.file("a.h5");
  const hid_t file = make(path, H5F_LIBVER_V110);
  ASSERT_GE(H5Fflush(file, H5F_SCOPE_GLOBAL), 0);
  const auto open = begin_of(path);
  ASSERT_GE(H5Fclose(file), 0);
  auto closed = begin_of(path);
  const auto ours = superblock_when_closed(open);
  ASSERT_FALSE(ours.empty());
  closed.resize(ours.size());
  EXPECT_EQ(ours, closed);
  EXPECT_TRUE(superblock_when_closed(closed).empty()) << "it says nothing";
  auto damaged = open;
  damaged[20] ^= std::byte{1};
  EXPECT_TRUE(superblock_when_closed(damaged).empty());
}

TEST(Superblock, OlderOnesSayNothing) {
  const TemporaryDirectory place;
  const auto path = place.file("a.h5");
  const hid_t file = make(path, H5F_LIBVER_EARLIEST);
  ASSERT_GE(H5Fflush(file, H5F_SCOPE_GLOBAL), 0);
  EXPECT_TRUE(superblock_when_closed(begin_of(path)).empty());
  H5Fclose(file);
  EXPECT_TRUE(superblock_when_closed({}).empty());
}

}  // namespace
}  // namespace forebay::hdf5
