#include "hdf5/matrix/element.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

namespace forebay::testing::matrix {
namespace {

std::uint64_t array_length(hid_t type) {
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = H5Tget_array_dims2(type, dims.data());
  std::uint64_t length = 1;
  for (int i = 0; i < rank; ++i) length *= dims[static_cast<std::size_t>(i)];
  return length;
}

void fill_bytes(std::byte* at, std::size_t size, std::uint64_t number) {
  for (std::size_t i = 0; i < size; ++i) at[i] = static_cast<std::byte>(mix(number, i) >> 40);
}

// Large and small values alike, and never one that is not a number.
void fill_float(hid_t type, std::byte* at, std::uint64_t number) {
  const double value = static_cast<double>(static_cast<std::int64_t>(mix(number)) >> 40) / 16.0;
  if (H5Tget_size(type) == sizeof(float)) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(at, &narrow, sizeof(narrow));
  } else {
    std::memcpy(at, &value, sizeof(value));
  }
}

// Half of the integers are small, so that conversions do not only clip.
void fill_integer(std::byte* at, std::size_t size, std::uint64_t number) {
  fill_bytes(at, size, number);
  if (number % 2 == 0) std::fill(at + 1, at + size, std::byte{0});
}

void fill_string(hid_t type, std::byte* at, std::uint64_t number) {
  std::string text(mix(number) % 9, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + mix(number, i) % 26);
  if (H5Tis_variable_str(type) > 0) {
    char* copy = ::strdup(text.c_str());
    std::memcpy(at, &copy, sizeof(copy));
  } else {
    std::memcpy(at, text.data(), std::min(text.size(), H5Tget_size(type) - 1));
  }
}

void fill_reference(hid_t file, hid_t type, std::byte* at, std::uint64_t number) {
  const char* target = kTargets[number % std::size(kTargets)];
  const hsize_t start[] = {number % 3};
  const hsize_t count[] = {1 + number % 2};
  const Id space(H5Screate_simple(1, std::array<hsize_t, 1>{8}.data(), nullptr));
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
  if (H5Tequal(type, H5T_STD_REF) > 0) {
    auto* reference = reinterpret_cast<H5R_ref_t*>(at);
    if (number % 2 == 0) {
      H5Rcreate_object(file, target, H5P_DEFAULT, reference);
    } else {
      H5Rcreate_region(file, "/targets/data", space, H5P_DEFAULT, reference);
    }
  } else if (H5Tequal(type, H5T_STD_REF_OBJ) > 0) {
    H5Rcreate(at, file, target, H5R_OBJECT, H5I_INVALID_HID);
  } else {
    H5Rcreate(at, file, "/targets/data", H5R_DATASET_REGION, space);
  }
}

void reduce_region(const Id& space, Digest& digest) {
  if (!space.good()) return;
  hsize_t low[H5S_MAX_RANK] = {};
  hsize_t high[H5S_MAX_RANK] = {};
  digest.add(static_cast<std::uint64_t>(H5Sget_select_npoints(space)));
  if (H5Sget_select_bounds(space, low, high) >= 0) digest.add(low[0] * 1000 + high[0]);
}

// Not by name: HDF5 looks through the whole file for one.
void reduce_reference(hid_t file, hid_t type, const std::byte* at, Digest& digest) {
  H5O_type_t found{};
  if (H5Tequal(type, H5T_STD_REF) > 0) {
    // HDF5 only looks at it, but does not say so.
    auto* reference = const_cast<H5R_ref_t*>(reinterpret_cast<const H5R_ref_t*>(at));
    const auto kind = H5Rget_type(reference);
    digest.add(static_cast<std::uint64_t>(kind));
    if (kind != H5R_OBJECT2 && kind != H5R_DATASET_REGION2) return;
    if (H5Rget_obj_type3(reference, H5P_DEFAULT, &found) >= 0) digest.add(static_cast<std::uint64_t>(found));
    if (kind == H5R_DATASET_REGION2)
      reduce_region(Id(H5Ropen_region(reference, H5P_DEFAULT, H5P_DEFAULT)), digest);
    return;
  }
  // An element that was never written refers to nothing.
  const std::size_t size = H5Tget_size(type);
  if (std::all_of(at, at + size, [](std::byte b) { return b == std::byte{0}; })) return;
  const auto kind = H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? H5R_OBJECT : H5R_DATASET_REGION;
  if (H5Rget_obj_type2(file, kind, at, &found) >= 0) digest.add(static_cast<std::uint64_t>(found));
  if (kind == H5R_DATASET_REGION) reduce_region(Id(H5Rget_region(file, kind, at)), digest);
}

}  // namespace

void fill(hid_t file, hid_t type, std::byte* at, std::uint64_t number) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fill_integer(at, size, number);
    case H5T_FLOAT:
      return fill_float(type, at, number);
    case H5T_STRING:
      return fill_string(type, at, number);
    case H5T_REFERENCE:
      return fill_reference(file, type, at, number);
    case H5T_ENUM: {
      const auto member = static_cast<unsigned>(mix(number) % static_cast<unsigned>(H5Tget_nmembers(type)));
      H5Tget_member_value(type, member, at);
      return;
    }
    case H5T_COMPOUND:
      for (unsigned i = 0; i < static_cast<unsigned>(H5Tget_nmembers(type)); ++i) {
        const Id member(H5Tget_member_type(type, i));
        fill(file, member, at + H5Tget_member_offset(type, i), mix(number, i));
      }
      return;
    case H5T_ARRAY: {
      const Id base(H5Tget_super(type));
      for (std::uint64_t i = 0; i < array_length(type); ++i) {
        fill(file, base, at + i * H5Tget_size(base), mix(number, i));
      }
      return;
    }
    case H5T_VLEN: {
      const Id base(H5Tget_super(type));
      hvl_t list{.len = mix(number) % 6, .p = nullptr};
      if (list.len > 0) list.p = std::calloc(list.len, H5Tget_size(base));
      for (std::size_t i = 0; i < list.len; ++i) {
        fill(file, base, static_cast<std::byte*>(list.p) + i * H5Tget_size(base), mix(number, i));
      }
      std::memcpy(at, &list, sizeof(list));
      return;
    }
    default:
      return fill_bytes(at, size, number);
  }
}

void reduce(hid_t file, hid_t type, const std::byte* at, Digest& digest) {
  switch (H5Tget_class(type)) {
    case H5T_STRING: {
      if (H5Tis_variable_str(type) <= 0) return digest.add(at, H5Tget_size(type));
      const char* text = nullptr;
      std::memcpy(&text, at, sizeof(text));
      return digest.add(text == nullptr ? std::string_view("(null)") : std::string_view(text));
    }
    case H5T_REFERENCE:
      return reduce_reference(file, type, at, digest);
    case H5T_COMPOUND:
      for (unsigned i = 0; i < static_cast<unsigned>(H5Tget_nmembers(type)); ++i) {
        const Id member(H5Tget_member_type(type, i));
        reduce(file, member, at + H5Tget_member_offset(type, i), digest);
      }
      return;
    case H5T_ARRAY: {
      const Id base(H5Tget_super(type));
      for (std::uint64_t i = 0; i < array_length(type); ++i)
        reduce(file, base, at + i * H5Tget_size(base), digest);
      return;
    }
    case H5T_VLEN: {
      const Id base(H5Tget_super(type));
      hvl_t list{};
      std::memcpy(&list, at, sizeof(list));
      digest.add(list.len);
      for (std::size_t i = 0; i < list.len; ++i) {
        reduce(file, base, static_cast<const std::byte*>(list.p) + i * H5Tget_size(base), digest);
      }
      return;
    }
    default:
      return digest.add(at, H5Tget_size(type));
  }
}

bool needs_reclaim(hid_t type) {
  return H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tdetect_class(type, H5T_REFERENCE) > 0 ||
         (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0) ||
         (H5Tget_class(type) == H5T_COMPOUND && H5Tdetect_class(type, H5T_STRING) > 0);
}

}  // namespace forebay::testing::matrix
