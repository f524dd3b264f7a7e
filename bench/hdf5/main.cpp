// h5_bench WORKLOAD FILE NUMBER...: does it and prints "name seconds" lines. It knows of no connector.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/hdf5/workloads.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench::hdf5;
  const std::string workload = argc > 2 ? argv[1] : "";
  const std::string path = argc > 2 ? argv[2] : "";
  std::vector<double> numbers;
  for (int i = 3; i < argc; ++i) numbers.push_back(std::atof(argv[i]));
  numbers.resize(4);
  const auto whole = [&](std::size_t i) { return static_cast<std::uint64_t>(numbers[i]); };
  const World world;
  if (workload == "checkpoint") {
    checkpoint(world, path, static_cast<unsigned>(whole(0)), whole(1), numbers[2]);
  } else if (workload == "make_samples") {
    make_samples(world, path, whole(0), whole(1));
  } else if (workload == "epochs") {
    epochs(world, path, whole(0) != 0, static_cast<unsigned>(whole(1)));
  } else if (workload == "small_writes") {
    small_writes(world, path, whole(0), numbers[1]);
  } else if (workload == "metadata") {
    metadata(world, path, static_cast<unsigned>(whole(0)));
  } else if (workload == "pieces") {
    pieces(world, path, whole(0), static_cast<unsigned>(whole(1)));
  } else {
    std::fprintf(stderr, "h5_bench: no workload %s\n", workload.c_str());
    return 2;
  }
  return 0;
}
