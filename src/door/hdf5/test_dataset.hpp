// What the tests of this folder share: a file without an engine, types, and the map of a dataset.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <H5VLconnector.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "base/format.hpp"
#include "door/hdf5/dataset_map.hpp"
#include "door/hdf5/transfer.hpp"

namespace forebay::hdf5 {

class PlainFile : public RawFile {
 public:
  explicit PlainFile(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {}
  ~PlainFile() override { ::close(fd_); }
  Status write(std::uint64_t offset, std::span<const std::byte> data) override {
    ++writes;
    const auto n = ::pwrite(fd_, data.data(), data.size(), static_cast<off_t>(offset));
    return n == static_cast<ssize_t>(data.size()) ? Status{} : fail(EIO, "short write");
  }
  Status read(std::uint64_t offset, std::span<std::byte> out) override {
    ++reads;
    const auto n = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0) return fail(EIO, "read");
    std::memset(out.data() + n, 0, out.size() - static_cast<std::size_t>(n));
    return {};
  }
  int writes = 0;
  int reads = 0;

 private:
  int fd_;
};

struct Member {
  const char* name;
  hid_t type;
};
inline hid_t compound(std::initializer_list<Member> members, std::size_t tail = 0) {
  std::size_t size = tail;
  for (const auto& member : members) size += H5Tget_size(member.type);
  const hid_t type = H5Tcreate(H5T_COMPOUND, size);
  std::size_t at = 0;
  for (const auto& member : members) {
    H5Tinsert(type, member.name, at, member.type);
    at += H5Tget_size(member.type);
  }
  return type;
}
inline hid_t text(std::size_t size, H5T_str_t padding) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_strpad(type, padding);
  return type;
}
inline hid_t array(hid_t of, hsize_t n) { return H5Tarray_create2(of, 1, &n); }
inline hid_t colours(hid_t of, int first) {
  const hid_t type = H5Tenum_create(of);
  const char* const names[] = {"red", "green", "blue"};
  for (int i = 0; i < 3; ++i) {
    std::int64_t value = first + i;  // little-endian: its low bytes come first
    H5Tenum_insert(type, names[i], &value);
  }
  return type;
}
inline hid_t opaque(std::size_t size) {
  const hid_t type = H5Tcreate(H5T_OPAQUE, size);
  H5Tset_tag(type, "blob");
  return type;
}

// A folder of the test's own, in memory.
class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = format_text("/dev/shm/forebay-hdf5-test-{}", ::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

// The answer of ask(object of the connector, connector): HDF5 answers a connector only within a call that it
// made, and a visit of the dataset is one.
template <class Ask>
auto within_hdf5(hid_t dataset, const Ask& ask) {
  using Answer = decltype(ask(nullptr, hid_t{}));
  struct Visit {
    hid_t dataset;
    const Ask& ask;
    std::optional<Answer> answer{};
  } visit{dataset, ask};
  const auto look = [](hid_t, const char*, const H5O_info2_t*, void* data) -> herr_t {
    auto& v = *static_cast<Visit*>(data);
    v.answer = v.ask(H5VLobject(v.dataset), Hid(H5VLget_connector_id(v.dataset)).get());
    return 0;
  };
  EXPECT_GE(H5Ovisit3(dataset, H5_INDEX_NAME, H5_ITER_NATIVE, look, &visit, H5O_INFO_BASIC), 0);
  return std::move(visit.answer).value();
}

inline std::expected<DatasetMap, Reason> map_of(hid_t dataset, bool writable = true) {
  return within_hdf5(
      dataset, [&](void* under, hid_t connector) { return DatasetMap::make(under, connector, writable); });
}

}  // namespace forebay::hdf5
