#include <cstdio>

#include "hdf5/matrix/scenario.hpp"

namespace forebay::testing::matrix {
namespace {

void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

std::uint64_t described(hid_t type) {
  std::size_t size = 0;
  H5Tencode(type, nullptr, &size);
  std::vector<std::byte> bytes(size);
  H5Tencode(type, bytes.data(), &size);
  Digest digest;
  digest.add(bytes.data(), size);
  return digest.value();
}

std::string extent(hid_t space) {
  hsize_t dims[H5S_MAX_RANK] = {};
  hsize_t most[H5S_MAX_RANK] = {};
  const int rank = H5Sget_simple_extent_dims(space, dims, most);
  std::string text = std::format("class {}", static_cast<int>(H5Sget_simple_extent_type(space)));
  for (int i = 0; i < rank; ++i) text += std::format(" {}/{}", dims[i], most[i]);
  return text;
}

// Bytes as they mean something in memory; references are named relative to `object`'s file.
template <class Read>
std::string contents(hid_t object, hid_t type, hid_t space, Read&& read) {
  const Id native(H5Tget_native_type(type, H5T_DIR_ASCEND));
  Elements elements(object, native, H5S_ALL, space);
  const auto code = read(hid_t{native}, elements.data());
  return std::format("{} {:016x}", code, code < 0 ? 0 : elements.reduced());
}

herr_t print_attribute(hid_t object, const char* name, const H5A_info_t*, void*) {
  const Id attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Id type(H5Aget_type(attribute));
  const Id space(H5Aget_space(attribute));
  const auto read = [&](hid_t native, void* into) { return H5Aread(attribute, native, into); };
  print(std::format("  @{} type {:016x} {} data {}", name, described(type), extent(space),
                    contents(object, type, space, read)));
  return 0;
}

void print_dataset(hid_t dataset) {
  const Id type(H5Dget_type(dataset));
  const Id space(H5Dget_space(dataset));
  const Id dcpl(H5Dget_create_plist(dataset));
  const auto read = [&](hid_t native, void* into) {
    return H5Dread(dataset, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, into);
  };
  hsize_t chunk[H5S_MAX_RANK] = {};
  std::string layout = std::format("layout {}", static_cast<int>(H5Pget_layout(dcpl)));
  if (H5Pget_layout(dcpl) == H5D_CHUNKED) {
    const int rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk);
    for (int i = 0; i < rank; ++i) layout += std::format(" {}", chunk[i]);
  }
  print(std::format("  type {:016x} {} {} filters {} external {}", described(type), extent(space), layout,
                    H5Pget_nfilters(dcpl), H5Pget_external_count(dcpl), H5Dget_storage_size(dataset)));
  print(std::format("  data {}", contents(dataset, type, space, read)));
}

herr_t print_object(hid_t file, const char* name, const H5O_info2_t* info, void*) {
  print(std::format("{} kind {} links {} attributes {}", name, static_cast<int>(info->type), info->rc,
                    info->num_attrs));
  const Id object(H5Oopen(file, name, H5P_DEFAULT));
  if (info->type == H5O_TYPE_DATASET) print_dataset(object);
  if (info->type == H5O_TYPE_NAMED_DATATYPE) print(std::format("  type {:016x}", described(object)));
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, print_attribute, nullptr);
  return 0;
}

herr_t print_link(hid_t group, const char* name, const H5L_info2_t* info, void*) {
  if (info->type == H5L_TYPE_HARD) return 0;
  std::vector<char> value(info->u.val_size + 1);
  H5Lget_val(group, name, value.data(), value.size(), H5P_DEFAULT);
  Digest digest;
  digest.add(value.data(), info->u.val_size);
  print(std::format("{} link {} {:016x}", name, static_cast<int>(info->type), digest.value()));
  return 0;
}

int print_chunk(const hsize_t*, unsigned, haddr_t address, hsize_t size, void*) {
  print(std::format("{} {}", address, size));
  return H5_ITER_CONT;
}

herr_t print_storage(hid_t file, const char* name, const H5O_info2_t* info, void*) {
  if (info->type != H5O_TYPE_DATASET) return 0;
  const Id dataset(H5Oopen(file, name, H5P_DEFAULT));
  const Id dcpl(H5Dget_create_plist(dataset));
  if (H5Pget_layout(dcpl) == H5D_CHUNKED) H5Dchunk_iter(dataset, H5P_DEFAULT, print_chunk, nullptr);
  H5D_space_status_t status{};
  H5Dget_space_status(dataset, &status);
  if (H5Pget_layout(dcpl) == H5D_CONTIGUOUS && status == H5D_SPACE_STATUS_ALLOCATED &&
      H5Pget_external_count(dcpl) == 0) {
    print(std::format("{} {}", H5Dget_offset(dataset), H5Dget_storage_size(dataset)));
  }
  return 0;
}

}  // namespace

int print_extents(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, print_storage, nullptr, H5O_INFO_BASIC);
  return file.good() ? 0 : 1;
}

int dump(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file.good()) {
    print("cannot be opened");
    return 1;
  }
  H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, print_object, nullptr, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS);
  H5Lvisit2(file, H5_INDEX_NAME, H5_ITER_INC, print_link, nullptr);
  return 0;
}

}  // namespace forebay::testing::matrix
