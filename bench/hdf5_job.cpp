#include "bench/hdf5_job.hpp"

#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/format.hpp"
#include "support/command.hpp"
#include "support/places.hpp"

namespace forebay::bench {

Hdf5Job::Hdf5Job(const Run& run, unsigned ranks, std::vector<std::string> settings)
    : run_(run), ranks_(ranks), settings_(std::move(settings)) {}

Seconds Hdf5Job::natively(const std::vector<std::string>& words) const { return start({}, words); }

Seconds Hdf5Job::with_door(const std::vector<std::string>& words) const {
  const auto memory = run_.scratch().in_memory("hdf5");
  std::vector<std::string> environment{
      "HDF5_VOL_CONNECTOR=forebay",
      "HDF5_PLUGIN_PATH=" + testing::built("plugins/") + (ranks_ == 1 ? "serial" : "mpich"),
      "FOREBAY_BUFFER_DIRECTORY=" + memory + "/control", "FOREBAY_TIERS=memory:" + memory + ":1GiB"};
  environment.insert(environment.end(), settings_.begin(), settings_.end());
  auto answer = start(std::move(environment), words);
  std::error_code ignored;
  std::filesystem::remove_all(memory, ignored);
  return answer;
}

Seconds Hdf5Job::start(std::vector<std::string> environment, const std::vector<std::string>& words) const {
  return run_workload(std::move(environment), ranks_,
                      testing::built("bench/hdf5/h5_bench_") + (ranks_ == 1 ? "serial" : "mpich"), words);
}

Seconds run_workload(std::vector<std::string> environment, unsigned ranks, const std::string& program,
                     const std::vector<std::string>& words) {
  // MPICH waits by spinning. Where ranks share a core, whoever is waited for does not run meanwhile: a
  // barrier of four ranks on two cores takes 8 ms that way and 0.4 ms when they step aside, with a door and
  // without. (Open MPI steps aside by itself.)
  if (ranks > std::thread::hardware_concurrency()) environment.push_back("MPIR_CVAR_ENABLE_HEAVY_YIELD=1");
  if (ranks > 1) environment.insert(environment.end(), {"mpiexec.mpich", "-n", std::to_string(ranks)});
  environment.push_back(program);
  environment.insert(environment.end(), words.begin(), words.end());
  const auto ran = testing::run("env", environment);
  if (ran.code != 0) {
    throw std::runtime_error(format_text("{} {} ended with {}, signal {}: {}", program, words.front(),
                                         ran.code, ran.signal, ran.err.substr(0, 2000)));
  }
  Seconds seconds;
  std::istringstream lines(ran.out);
  std::string name;
  for (double value = 0; lines >> name >> value;) seconds[name] = value;
  return seconds;
}

}  // namespace forebay::bench
