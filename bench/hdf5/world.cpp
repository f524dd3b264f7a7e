#include "bench/hdf5/world.hpp"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace forebay::bench::hdf5 {

#ifdef H5_HAVE_PARALLEL
World::World() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}
World::~World() {
  H5close();
  MPI_Finalize();
}
void World::barrier() const { MPI_Barrier(MPI_COMM_WORLD); }
void World::tell(const char* name, double value) const {
  double largest = 0;
  MPI_Reduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank_ == 0) std::printf("%s %.9g\n", name, largest);
}
hid_t World::access() const {
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  must(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL));
  return fapl;
}
#else
World::World() = default;
World::~World() { H5close(); }
void World::barrier() const {}
void World::tell(const char* name, double value) const { std::printf("%s %.9g\n", name, value); }
hid_t World::access() const { return H5Pcreate(H5P_FILE_ACCESS); }
#endif

hid_t World::create(const std::string& path) const {
  const hid_t fapl = access();
  const hid_t file = must(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
  H5Pclose(fapl);
  return file;
}

hid_t World::open(const std::string& path) const {
  const hid_t fapl = access();
  const hid_t file = must(H5Fopen(path.c_str(), H5F_ACC_RDONLY, fapl));
  H5Pclose(fapl);
  return file;
}

void World::compute(double seconds) const {
  if (ranks() > std::thread::hardware_concurrency())
    return std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const Watch watch;
  volatile double sum = 0;
  while (watch.seconds() < seconds) {
    for (int i = 0; i < 10'000; ++i) sum = sum + 1.0 / (i + 1);
  }
}

hid_t must(hid_t code) {
  if (code < 0) {
    H5Eprint2(H5E_DEFAULT, stderr);
    std::exit(1);
  }
  return code;
}

}  // namespace forebay::bench::hdf5
