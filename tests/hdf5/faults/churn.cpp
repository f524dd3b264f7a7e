#include <hdf5.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "hdf5/faults/story.hpp"
#include "hdf5/faults/verbs.hpp"

namespace forebay::testing::faults {
namespace {

constexpr unsigned kOfAKind = 6;

// Everything of one generation says so: /generation the number, c0 to c5 (compressed) and s (strings) nothing
// but it, and the datasets d0, d1, ... those that the number has bits for.
class Churned {
 public:
  Churned(const std::string& path, unsigned seed) : random_(seed) {
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (seed % 2 == 1) H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    // A small cache of metadata, so that HDF5 writes them when it pleases.
    H5AC_cache_config_t cache{};
    cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    H5Pget_mdc_config(fapl, &cache);
    cache.set_initial_size = true;
    cache.initial_size = cache.min_size = 1024;
    cache.max_size = 4096;
    H5Pset_mdc_config(fapl, &cache);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
    const hsize_t most = H5S_UNLIMITED;
    const hsize_t none = 0;
    const hid_t space = H5Screate_simple(1, &none, &most);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 700;
    H5Pset_chunk(dcpl, 1, &chunk);
    log_ = H5Dcreate2(file_, "log", H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Pclose(dcpl);
    H5Sclose(space);
  }

  int run() {
    for (unsigned generation = 1;; ++generation) {
      turn(generation);
      if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) return 1;
      if (generation == 1) std::ofstream("flushed") << "here\n";
    }
  }

 private:
  void turn(unsigned generation) {
    const auto wanted = generation % 5 == 0 ? 0u : static_cast<unsigned>(random_()) & 0xffu;
    for (unsigned i = 0; i < 8; ++i) {
      const auto name = "d" + std::to_string(i);
      const bool there = H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0;
      const bool should = (wanted >> i & 1) != 0;
      if (there && (!should || random_() % 2 == 0)) H5Ldelete(file_, name.c_str(), H5P_DEFAULT);
      if (should && H5Lexists(file_, name.c_str(), H5P_DEFAULT) <= 0) write_dataset(file_, i);
    }
    for (unsigned i = 0; i < kOfAKind; ++i) compressed(i, generation);
    strings(generation);
    groups(generation);
    extend();
    number("generation", static_cast<std::int32_t>(generation));
    number("wanted", static_cast<std::int32_t>(wanted));
  }
  hid_t opened_or_made(const std::string& name, hid_t type, hsize_t size, bool deflate) {
    if (H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0) return H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = size / 7 + 1;
    if (deflate) H5Pset_chunk(dcpl, 1, &chunk);
    if (deflate) H5Pset_deflate(dcpl, 1);
    const hid_t made = H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Pclose(dcpl);
    H5Sclose(space);
    return made;
  }
  // The generation in each element's low bits, and above them what makes each time of another length.
  void compressed(unsigned i, unsigned generation) {
    const hid_t set = opened_or_made("c" + std::to_string(i), H5T_STD_I32LE, 5000, true);
    std::vector<std::int32_t> data(5000);
    const auto noise = random_() % 5000;
    for (std::size_t k = 0; k < data.size(); ++k) {
      const auto high = k < noise ? static_cast<std::uint32_t>(random_()) << 16 : 0u;
      data[k] = static_cast<std::int32_t>(high | (generation & 0xffffu));
    }
    H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
    H5Dclose(set);
  }
  void strings(unsigned generation) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t set = opened_or_made("s", type, 300, false);
    const auto word = std::string(1 + random_() % 40, '-') + std::to_string(generation);
    const std::vector<const char*> data(300, word.c_str());
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
    H5Dclose(set);
    H5Tclose(type);
  }
  // Many small things, for metadata that come and go.
  void groups(unsigned generation) {
    const auto name = "g" + std::to_string(generation % 4);
    if (H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0) H5Ldelete(file_, name.c_str(), H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (unsigned i = 0; i < 5 + random_() % 60; ++i) {
      const hid_t inner =
          H5Gcreate2(group, ("i" + std::to_string(i)).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t scalar = H5Screate(H5S_SCALAR);
      const hid_t attribute = H5Acreate2(inner, "a", H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
      const auto value = static_cast<std::int32_t>(generation);
      H5Awrite(attribute, H5T_NATIVE_INT32, &value);
      H5Aclose(attribute);
      H5Sclose(scalar);
      H5Gclose(inner);
    }
    H5Gclose(group);
  }
  void extend() {
    const hsize_t size = random_() % 9000;
    H5Dset_extent(log_, &size);
    if (random_() % 3 == 0) H5Dflush(log_);
  }
  void number(const char* name, std::int32_t what) {
    const hid_t set = opened_or_made(name, H5T_STD_I32LE, 1, true);
    H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, &what);
    H5Dclose(set);
  }

  std::minstd_rand random_;
  hid_t file_ = H5I_INVALID_HID;
  hid_t log_ = H5I_INVALID_HID;
};

bool read_numbers(hid_t file, const std::string& name, std::vector<std::int32_t>& data) {
  const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const bool read =
      set >= 0 && H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) >= 0;
  if (set >= 0) H5Dclose(set);
  return read;
}

std::string wrong_with_strings(hid_t file, unsigned generation) {
  const hid_t set = H5Dopen2(file, "s", H5P_DEFAULT);
  if (set < 0) return "s cannot be opened";
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  std::vector<char*> data(300);
  if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) < 0) return "s cannot be read";
  const auto word = "-" + std::to_string(generation);
  for (const char* one : data) {
    const std::string found = one == nullptr ? "" : one;
    if (!found.ends_with(word)) return "s says " + found + ", not " + word;
  }
  return "";
}

std::string wrong_with_groups(hid_t file) {
  const auto look = [](hid_t object, const char* /*name*/, const H5O_info2_t* info, void*) -> herr_t {
    return info->type == H5O_TYPE_UNKNOWN || object < 0 ? -1 : 0;
  };
  return H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_NATIVE, look, nullptr, H5O_INFO_ALL) < 0
             ? "not all objects can be visited"
             : "";
}

std::string wrong_with(hid_t file) {
  std::vector<std::int32_t> one(1);
  if (!read_numbers(file, "generation", one)) return "generation cannot be read";
  const auto generation = static_cast<unsigned>(one[0]);
  if (!read_numbers(file, "wanted", one)) return "wanted cannot be read";
  const auto wanted = static_cast<unsigned>(one[0]);
  for (unsigned i = 0; i < 8; ++i) {
    const auto name = "d" + std::to_string(i);
    const bool there = H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0;
    if (there != ((wanted >> i & 1) != 0)) return name + (there ? " is there" : " is missing");
    if (there && !is_whole(file, i)) return name + " is not whole";
  }
  for (unsigned i = 0; i < kOfAKind; ++i) {
    const auto name = "c" + std::to_string(i);
    std::vector<std::int32_t> data(5000);
    if (!read_numbers(file, name, data)) return name + " cannot be read";
    for (const auto value : data) {
      if ((static_cast<std::uint32_t>(value) & 0xffffu) != (generation & 0xffffu))
        return name + " is not of generation " + std::to_string(generation);
    }
  }
  if (auto wrong = wrong_with_strings(file, generation); !wrong.empty()) return wrong;
  return wrong_with_groups(file);
}

}  // namespace

int churn(const std::string& path, unsigned seed) { return Churned(path, seed).run(); }

int verify_churned(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return std::printf("cannot be opened\n"), 1;
  const auto wrong = wrong_with(file);
  H5Fclose(file);
  std::printf("%s\n", wrong.empty() ? "whole" : wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

}  // namespace forebay::testing::faults
