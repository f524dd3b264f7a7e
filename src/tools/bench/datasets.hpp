// Datasets of plain numbers: the element types of the suite's data, made, opened, written and read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/bench/checker.hpp"
#include "tools/bench/hid.hpp"
#include "tools/bench/selection.hpp"

namespace forebay::kernels {

template <class T>
hid_t type_of();
template <>
inline hid_t type_of<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}
template <>
inline hid_t type_of<std::uint32_t>() {
  return H5T_NATIVE_FLOAT;  // as Source makes them
}
template <>
inline hid_t type_of<std::uint64_t>() {
  return H5T_NATIVE_DOUBLE;
}

// Missing groups on the way are made.
template <class T>
[[nodiscard]] Hid create_dataset(hid_t at, const std::string& name, const std::vector<hsize_t>& extent) {
  const Hid links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "make properties");
  must(H5Pset_create_intermediate_group(links.get(), 1), "make properties");
  return {H5Dcreate2(at, name.c_str(), type_of<T>(), simple_space(extent).get(), links.get(), H5P_DEFAULT,
                     H5P_DEFAULT),
          H5Dclose, "create dataset " + name};
}

[[nodiscard]] inline Hid open_dataset(hid_t at, const std::string& name) {
  return {H5Dopen2(at, name.c_str(), H5P_DEFAULT), H5Dclose, "open dataset " + name};
}

[[nodiscard]] inline std::vector<hsize_t> extent_of(hid_t dataset) {
  const Hid space(H5Dget_space(dataset), H5Sclose, "look at a dataset");
  std::vector<hsize_t> extent(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  return extent;
}

// A dataset that has grown is as wrong as one that has not.
inline void expect_shape(Checker& checker, hid_t dataset, const std::vector<hsize_t>& extent,
                         const std::string& name) {
  checker.expect(extent_of(dataset) == extent, "dataset " + name + " has another shape");
}

// What `space` has selected; memory is contiguous.
template <class T>
void write_selected(hid_t dataset, hid_t space, hid_t transfer, std::span<const T> data) {
  must(H5Dwrite(dataset, type_of<T>(), simple_space({data.size()}).get(), space, transfer, data.data()),
       "write");
}
template <class T>
void read_selected(hid_t dataset, hid_t space, hid_t transfer, std::span<T> data) {
  must(H5Dread(dataset, type_of<T>(), simple_space({data.size()}).get(), space, transfer, data.data()),
       "read");
}

// A dataspace with a box of it selected; nothing at all where the box is empty.
[[nodiscard]] inline Hid box_of(const std::vector<hsize_t>& extent, const std::vector<hsize_t>& start,
                                const std::vector<hsize_t>& count) {
  auto space = simple_space(extent);
  bool empty = false;
  for (const auto one : count) empty = empty || one == 0;
  if (empty) {
    must(H5Sselect_none(space.get()), "select nothing");
  } else {
    select_box(space.get(), start, count);
  }
  return space;
}

}  // namespace forebay::kernels
