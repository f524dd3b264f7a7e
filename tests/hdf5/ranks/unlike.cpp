#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

constexpr int kDatasets = 4;

// What rank `of` brings to one call: an even one the first two, an odd one the third, all the last.
std::vector<int> brought(int of) { return of % 2 == 0 ? std::vector{0, 1, 3} : std::vector{2, 3}; }

std::int32_t value(int dataset, int of) { return 1000 * (dataset + 1) + of; }

struct Call {
  std::vector<hid_t> datasets{}, types{}, memories{}, spaces{};

  Call(const std::vector<hid_t>& all, int of) {
    for (const int i : brought(of)) {
      const hid_t dataset = all[static_cast<std::size_t>(i)];
      datasets.push_back(dataset);
      types.push_back(H5T_NATIVE_INT32);
      memories.push_back(H5Screate_simple(1, &kPart, nullptr));
      const hsize_t start = kPart * static_cast<hsize_t>(of);
      spaces.push_back(H5Dget_space(dataset));
      H5Sselect_hyperslab(spaces.back(), H5S_SELECT_SET, &start, nullptr, &kPart, nullptr);
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    for (const hid_t space : memories) H5Sclose(space);
    for (const hid_t space : spaces) H5Sclose(space);
  }
};

bool write(const std::vector<hid_t>& all, hid_t list) {
  Call call(all, rank());
  std::vector<std::vector<std::int32_t>> values;
  std::vector<const void*> data;
  for (const int i : brought(rank())) values.emplace_back(kPart, value(i, rank()));
  for (const auto& each : values) data.push_back(each.data());
  return H5Dwrite_multi(data.size(), call.datasets.data(), call.types.data(), call.memories.data(),
                        call.spaces.data(), list, data.data()) >= 0;
}

// What the next rank wrote.
bool read(const std::vector<hid_t>& all, hid_t list) {
  const int of = (rank() + 1) % size();
  Call call(all, of);
  std::vector<std::vector<std::int32_t>> found(call.datasets.size(), std::vector<std::int32_t>(kPart));
  std::vector<void*> data;
  for (auto& each : found) data.push_back(each.data());
  if (H5Dread_multi(data.size(), call.datasets.data(), call.types.data(), call.memories.data(),
                    call.spaces.data(), list, data.data()) < 0) {
    return false;
  }
  bool good = true;
  for (std::size_t at = 0; const int i : brought(of))
    good &= found[at++] == std::vector<std::int32_t>(kPart, value(i, of));
  return good;
}

}  // namespace

int unlike(const std::string& path) {
  const hid_t file = create(path);
  std::vector<hid_t> all;
  for (int i = 0; i < kDatasets; ++i)
    all.push_back(make(file, std::to_string(i).c_str(), kPart * static_cast<hsize_t>(size())));
  const hid_t list = collective_list();
  int wrong = 0;
  if (!write(all, list)) wrong |= 1;
  if (!read(all, list)) wrong |= 2;
  // Each for itself, and then together what is staged.
  if (!write(all, H5P_DEFAULT)) wrong |= 4;
  H5Fflush(file, H5F_SCOPE_LOCAL);
  if (!read(all, list)) wrong |= 8;
  for (const hid_t dataset : all) H5Dclose(dataset);
  H5Pclose(list);
  if (H5Fclose(file) < 0) wrong |= 16;
  return wrong;
}

}  // namespace forebay::testing::ranks
