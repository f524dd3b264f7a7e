#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

constexpr unsigned kFlushed = 8;
constexpr unsigned kCompressed = 5;
constexpr std::int32_t kSteps = 1 << 20;

std::string name_of(unsigned number) { return "d" + std::to_string(number); }

// Every value tells where it stands and of which generation it is.
std::int32_t value_of(unsigned number, hsize_t index, std::int32_t generation) {
  return static_cast<std::int32_t>((number * 7919 + index * 31) % kSteps) + generation * kSteps;
}

// Contiguous, chunked, and one that HDF5 compresses and so writes by itself.
hid_t make_to_flush(hid_t file, unsigned number) {
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk = 700;
  if (number % 2 == 1) H5Pset_chunk(dcpl, 1, &chunk);
  if (number == kCompressed) H5Pset_deflate(dcpl, 1);
  const hid_t made = make(file, name_of(number).c_str(), kPart * static_cast<hsize_t>(size()), dcpl);
  H5Pclose(dcpl);
  return made;
}

// This rank's part of it.
bool put_generation(hid_t dataset, unsigned number, std::int32_t generation, hid_t transfer) {
  std::vector<std::int32_t> values(kPart);
  const hsize_t first = kPart * static_cast<hsize_t>(rank());
  for (hsize_t i = 0; i < kPart; ++i) values[i] = value_of(number, first + i, generation);
  return move_mine(dataset, [&](hid_t memory, hid_t space) {
           return H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, transfer, values.data());
         }) >= 0;
}

void leave_mark(const std::string& path, const char* what) {
  std::ofstream(path + "." + what + std::to_string(rank())) << "here\n";
}

// SIGKILL to this process, wherever it is by then.
void die_in(std::uint64_t microseconds) {
  sigevent death{};
  death.sigev_notify = SIGEV_SIGNAL;
  death.sigev_signo = SIGKILL;
  timer_t timer{};
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(microseconds / 1'000'000);
  when.it_value.tv_nsec = static_cast<long>(microseconds % 1'000'000 * 1000 + 1);
  if (timer_create(CLOCK_MONOTONIC, &death, &timer) != 0 || timer_settime(timer, 0, &when, nullptr) != 0)
    MPI_Abort(MPI_COMM_WORLD, 3);
}

// The least and the greatest generation in a dataset, or an empty answer where something else is in it.
std::vector<std::int32_t> generations_in(hid_t file, unsigned number) {
  const hid_t dataset = H5Dopen2(file, name_of(number).c_str(), H5P_DEFAULT);
  if (dataset < 0) return {};
  const hid_t space = H5Dget_space(dataset);
  std::vector<std::int32_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Sclose(space);
  const auto read = H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(dataset);
  if (read < 0 || values.empty()) return {};
  std::int32_t least = values[0] / kSteps;
  std::int32_t most = least;
  for (hsize_t i = 0; i < values.size(); ++i) {
    const auto generation = values[i] / kSteps;
    if (values[i] != value_of(number, i, generation)) return {};
    least = std::min(least, generation);
    most = std::max(most, generation);
  }
  return {least, most};
}

}  // namespace

int killed(const std::string& path, unsigned seed) {
  std::minstd_rand together(seed * 2 + 1);
  const bool closing = together() % 2 == 0;
  const auto alone = together() % 3;  // one rank is killed, and MPI ends the others; 2: all are
  const auto delay = together() % (closing ? 12'000 : 40'000);
  const hid_t collective = collective_list();
  const hid_t file = create(path);
  std::vector<hid_t> datasets;
  int wrong = 0;
  for (unsigned i = 0; i < kFlushed; ++i) {
    datasets.push_back(make_to_flush(file, i));
    wrong +=
        put_generation(datasets[i], i, 1, i % 3 == 0 && i != kCompressed ? H5P_DEFAULT : collective) ? 0 : 1;
  }
  wrong += H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? 1 : 0;
  if (wrong != 0) return 1;
  leave_mark(path, "flushed");
  MPI_Barrier(MPI_COMM_WORLD);
  if (!closing && (alone >= 2 || rank() == static_cast<int>(alone))) die_in(delay);
  // Raw data only: what HDF5 itself writes of metadata may leave any file unreadable, as natively.
  for (std::int32_t generation = 2; generation <= (closing ? 2 : 1000); ++generation) {
    for (unsigned i = 0; i < kFlushed; ++i) {
      if (i != kCompressed) put_generation(datasets[i], i, generation, i % 3 == 0 ? H5P_DEFAULT : collective);
    }
    if (generation % 5 == 0) H5Fflush(file, H5F_SCOPE_GLOBAL);
  }
  for (const auto dataset : datasets) H5Dclose(dataset);
  MPI_Barrier(MPI_COMM_WORLD);
  if (alone >= 2 || rank() == static_cast<int>(alone)) die_in(delay);
  if (H5Fclose(file) < 0) return 1;
  leave_mark(path, "closed");
  ::pause();
  return 1;
}

int survived(const std::string& path, unsigned at_least) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return std::printf("it cannot be opened\n"), 1;
  int wrong = 0;
  for (unsigned i = 0; i < kFlushed; ++i) {
    const auto found = generations_in(file, i);
    const auto wanted = i == kCompressed ? 1 : static_cast<std::int32_t>(at_least);
    if (!found.empty() && found[0] >= wanted) continue;
    ++wrong;
    if (found.empty()) {
      std::printf("%s holds what was never written\n", name_of(i).c_str());
    } else {
      std::printf("%s is of generation %d to %d\n", name_of(i).c_str(), found[0], found[1]);
    }
  }
  H5Fclose(file);
  return wrong == 0 ? 0 : 1;
}

}  // namespace forebay::testing::ranks
