// Event sets whose home fails or is slow.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "hdf5/faults/story.hpp"
#include "hdf5/faults/verbs.hpp"

namespace forebay::testing::faults {
namespace {

// Prints the words of all that failed in the set.
void print_failures(hid_t set) {
  std::size_t count = 0;
  H5ESget_err_count(set, &count);
  std::printf("failures: %zu\n", count);
  std::vector<H5ES_err_info_t> infos(count);
  if (count == 0 || H5ESget_err_info(set, count, infos.data(), &count) < 0) return;
  const auto print = [](unsigned, const H5E_error2_t* entry, void*) -> herr_t {
    std::printf("%s\n", entry->desc);
    return 0;
  };
  for (std::size_t i = 0; i < count; ++i) {
    std::printf("%s:\n", infos[i].api_name);
    H5Ewalk2(infos[i].err_stack_id, H5E_WALK_UPWARD, print, nullptr);
  }
}

// What H5ESwait says.
bool all_home(hid_t set) {
  std::size_t left = 1;
  hbool_t failed = true;
  return H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed) >= 0 && left == 0 && !failed;
}

void wait_until_told() {
  std::ofstream("made") << "here\n";
  for (int i = 0; i < 60'000 && ::access("go", F_OK) != 0; ++i) ::usleep(1000);
}

}  // namespace

int events(const std::string& path, const std::string& way) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const unsigned number = way == "chunked" ? 1 : way == "filtered" ? 3 : 2;
  write_datasets(file, 0, number);
  const hid_t dataset = make_dataset(file, number);
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
  wait_until_told();
  std::vector<std::int32_t> data(kValues);
  for (hsize_t i = 0; i < kValues; ++i) data[i] = value(number, i);
  const hid_t set = H5EScreate();
  if (way == "close") {
    if (H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) < 0) return 2;
    if (H5Dclose(dataset) < 0 || H5Fclose_async(file, set) < 0) return 3;
    if (all_home(set)) return 4;
    print_failures(set);
    return H5ESclose(set) < 0 ? 5 : 0;
  }
  if (H5Dwrite_async(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data(), set) < 0)
    return 2;
  if (way == "cancel") {
    std::size_t not_cancelled = 0;
    hbool_t failed = true;
    if (H5EScancel(set, &not_cancelled, &failed) < 0 || not_cancelled != 1 || failed) return 3;
    if (!all_home(set)) return 4;
    return H5ESclose(set) < 0 || H5Dclose(dataset) < 0 || H5Fclose(file) < 0 ? 5 : 0;
  }
  if (all_home(set)) return 4;
  print_failures(set);
  if (H5ESclose(set) < 0) return 5;
  const auto dataset_closed = H5Dclose(dataset);
  std::printf("close: %d %d\n", dataset_closed, H5Fclose(file));
  return 0;
}

}  // namespace forebay::testing::faults
