#include "tools/bench/world.hpp"

#include <array>
#include <cstdlib>
#include <numeric>

#include "base/format.hpp"

namespace forebay::kernels {

std::string World::hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return format_text("{}.{}.{}", major, minor, release);
}

#ifdef H5_HAVE_PARALLEL

World::World(bool many_threads) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, many_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  many_threads_ = provided == MPI_THREAD_MULTIPLE;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

World::~World() {
  H5close();
  MPI_Finalize();
}

void World::barrier() const { MPI_Barrier(MPI_COMM_WORLD); }

std::vector<double> World::gather(const std::vector<double>& values) const {
  const int count = static_cast<int>(values.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks_));
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  std::vector<double> all(rank_ == 0 ? static_cast<std::size_t>(places.back() + counts.back()) : 0);
  MPI_Gatherv(values.data(), count, MPI_DOUBLE, all.data(), counts.data(), places.data(), MPI_DOUBLE, 0,
              MPI_COMM_WORLD);
  return all;
}

std::vector<std::string> World::gather(const std::string& text) const {
  std::vector<double> letters(text.begin(), text.end());
  letters.push_back(0);
  std::vector<std::string> texts;
  std::string one;
  for (const double letter : gather(letters)) {
    if (letter != 0) {
      one += static_cast<char>(letter);
    } else {
      texts.push_back(std::exchange(one, {}));
    }
  }
  return texts;
}

void World::abort() const {
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

std::string World::mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all(text.data(), static_cast<std::size_t>(length));
  // "MPICH Version:      4.2.1\nMPICH ..." or "Open MPI v5.0.7, package: ..."
  if (all.starts_with("MPICH")) {
    const auto begin = all.find_first_of("0123456789");
    return "MPICH " + all.substr(begin, all.find_first_of(" \t\n", begin) - begin);
  }
  const auto begin = all.find('v');
  return "Open MPI " + all.substr(begin + 1, all.find_first_of(", \n", begin) - begin - 1);
}

#else

World::World(bool /*many_threads*/) {}
World::~World() { H5close(); }
void World::barrier() const {}
std::vector<double> World::gather(const std::vector<double>& values) const { return values; }
std::vector<std::string> World::gather(const std::string& text) const { return {text}; }
void World::abort() const { std::_Exit(1); }
std::string World::mpi_version() { return ""; }

#endif

}  // namespace forebay::kernels
