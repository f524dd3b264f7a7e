// forebay-kernels-<flavour> JOB: does one stage of one kernel and writes its figures; --about: its libraries.
// It knows nothing of Forebay: how it is started decides that.
#include <cstdio>
#include <exception>
#include <string_view>

#include "tools/bench/kernel.hpp"
#include "tools/bench/outcome.hpp"

namespace {

using namespace forebay::kernels;

void run(const World& world, const Job& job) {
  if (job.many_threads && world.ranks() > 1 && !world.many_threads())
    throw std::runtime_error("this MPI has no MPI_THREAD_MULTIPLE");
  Recorder recorder(job, world);
  Checker checker(job.seed);
  const Context context{.job = job, .world = world, .recorder = recorder, .checker = checker};
  const auto kernel = make_kernel(context);
  if (!kernel) throw std::runtime_error("there is no kernel " + job.kernel + " in this flavour");
  switch (job.stage) {
    case Stage::kPrepare:
      kernel->prepare();
      break;
    case Stage::kRun:
      kernel->run();
      break;
    case Stage::kCheck:
      kernel->check();
      break;
  }
  write_outcome(job, world, recorder, checker);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: forebay-kernels-FLAVOUR JOB (started by `forebay bench`)\n", stderr);
    return 2;
  }
  if (std::string_view(argv[1]) == "--about") {
    std::printf("%s\n%s\n", World::hdf5_version().c_str(), World::mpi_version().c_str());
    return 0;
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const auto complain = [](const std::exception& error) {
    std::fprintf(stderr, "forebay-kernels: %s\n", error.what());
  };
  try {
    const auto job = Job::read(argv[1]);
    const World world(job.many_threads);
    try {
      run(world, job);
    } catch (const std::exception& error) {
      complain(error);
      world.abort();
    }
  } catch (const std::exception& error) {
    complain(error);
    return 1;
  }
  return 0;
}
