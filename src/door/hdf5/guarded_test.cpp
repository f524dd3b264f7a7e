#include "door/hdf5/guarded.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "door/hdf5/test_home.hpp"

namespace forebay::hdf5 {
namespace {

herr_t add(int one, int other) { return one + other; }
void* no_memory(void* /*handle*/) { throw std::bad_alloc(); }
haddr_t out_of_range() { throw std::out_of_range("too far"); }

struct Entry {
  hid_t major = H5I_INVALID_HID;
  hid_t minor = H5I_INVALID_HID;
  std::string words{};
};
Entry first_entry() {
  Entry found;
  const auto take = [](unsigned, const H5E_error2_t* entry, void* into) -> herr_t {
    *static_cast<Entry*>(into) = {entry->maj_num, entry->min_num, entry->desc};
    return 1;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &found);
  return found;
}

TEST(Guarded, AnswersAsTheCallbackDoes) { EXPECT_EQ(guarded<add>(2, 3), 5); }

TEST(Guarded, WhatIsThrownIsAnEntryOnTheErrorStack) {
  H5Eclear2(H5E_DEFAULT);
  EXPECT_EQ(guarded<no_memory>(nullptr), nullptr);
  EXPECT_EQ(first_entry().major, H5E_RESOURCE);
  EXPECT_EQ(first_entry().minor, H5E_NOSPACE);
  H5Eclear2(H5E_DEFAULT);
  EXPECT_EQ(guarded<out_of_range>(), HADDR_UNDEF);
  EXPECT_EQ(first_entry().words, "too far");
  H5Eclear2(H5E_DEFAULT);
}

// What waits for a flush is kept in memory, of which there is none left.
[[noreturn]] void run_out_of_memory() {
  const TestHome home;
  constexpr std::size_t kMany = 4u << 20;
  std::vector<int> values(kMany, 1);
  const hid_t file = home.create("a.h5");
  const hid_t dataset = make_dataset(file, "x", kMany);
  H5Dclose(make_dataset(file, "y", 10));
  bool good = write_all(dataset, values) >= 0 && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 &&
              H5Ldelete(file, "y", H5P_DEFAULT) >= 0;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * 4096 + (4u << 20), RLIM_INFINITY};
  good = good && ::setrlimit(RLIMIT_AS, &limit) == 0;
  // Nor in what earlier tests have freed; but for a little that HDF5 needs.
  constexpr std::size_t kLittle = 1u << 20;
  void* last = nullptr;
  while (void* const more = std::malloc(kLittle)) last = more;
  std::free(last);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const auto written = write_all(dataset, values);
  std::fprintf(stderr, "%d %d: %s", good, written, first_entry().words.c_str());
  std::filesystem::remove_all(home.path(""));
  std::_Exit(0);
}

TEST(Guarded, TheDriverIs) {
  EXPECT_EXIT(run_out_of_memory(), ::testing::ExitedWithCode(0), "1 -1: there is no memory left");
}

}  // namespace
}  // namespace forebay::hdf5
