#include "tools/forebay/bench_launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "base/format.hpp"
#include "config/environment.hpp"
#include "tools/forebay/program.hpp"
#include "tools/forebay/run_doors.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr auto kCountOptions =
    std::to_array<std::string_view>({"-n", "-np", "--np", "--n", "-ntasks", "--ntasks"});

Result<unsigned> ranks_of(const std::string& key, const std::string& text) {
  unsigned ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc{} || end != text.data() + text.size() || ranks == 0 || ranks > 4096)
    return fail(EINVAL, format_text("{}: \"{}\" is no number of ranks", key, text));
  return ranks;
}

struct Folders {
  fs::path build;    // empty: installed
  fs::path program;  // folder of this program
};

Folders folders() {
  std::error_code unknown;
  const auto own = fs::canonical("/proc/self/exe", unknown).parent_path();
  const auto build = own.parent_path().parent_path().parent_path();
  if (std::error_code failed; fs::exists(build / "CMakeCache.txt", failed)) return {build, own};
  return {{}, own};
}

std::string first_of(const Texts& texts, const std::string& key) {
  const auto found = texts.find(key);
  return found == texts.end() ? "" : found->second;
}

}  // namespace

Result<Launch> launch_of(const Texts& mpi) {
  Launch launch;
  auto command = first_of(mpi, "command");
  launch.flavour = first_of(mpi, "flavour");
  if (command.empty()) {
    if (launch.flavour.empty()) launch.flavour = "mpich";
    command = "mpiexec." + launch.flavour;
  }
  if (launch.flavour != "serial") {
    const auto environment = Environment::current();
    const auto program = find_command(command, environment.get_or("PATH", "/usr/bin:/bin"));
    if (!program) return fail(EINVAL, format_text("command: {}", program.error().message));
    if (launch.flavour.empty()) launch.flavour = mpi_of_launcher(*program);
    if (launch.flavour.empty())
      return fail(EINVAL,
                  format_text("command: it cannot be told which MPI {} is of: add \"flavour\"", command));
  }
  if (launch.flavour != "serial" && launch.flavour != "mpich" && launch.flavour != "openmpi")
    return fail(EINVAL, format_text("flavour: \"{}\" is none of serial, mpich and openmpi", launch.flavour));
  const auto ranks = first_of(mpi, "ranks");
  if (!ranks.empty()) {
    FOREBAY_ASSIGN(launch.ranks, ranks_of("ranks", ranks));
  }
  if (launch.flavour == "serial") {
    if (launch.ranks != 1) return fail(EINVAL, "ranks: the serial flavour has one");
    return launch;
  }
  launch.words.push_back(command);
  std::istringstream more(first_of(mpi, "configuration"));
  bool counted = false;
  for (std::string word, before; more >> word; before = word) {
    if (std::ranges::contains(kCountOptions, std::string_view(before))) {
      FOREBAY_ASSIGN(launch.ranks, ranks_of("configuration", word));
      counted = true;
    }
    launch.words.push_back(word);
  }
  if (!counted) launch.words.insert(launch.words.end(), {"-n", std::to_string(launch.ranks)});
  if (launch.flavour == "openmpi" && first_of(mpi, "configuration").empty())
    launch.words.insert(launch.words.end(), {"--oversubscribe", "--bind-to", "none"});
  return launch;
}

Result<std::string> kernels_program(const std::string& flavour) {
  const auto [build, own] = folders();
  const auto name = "forebay-kernels-" + flavour;
  const auto path = build.empty() ? (own / ".." / FOREBAY_LIBRARIES / "forebay" / name).lexically_normal()
                                  : build / "src/tools/bench" / name;
  if (::access(path.c_str(), X_OK) != 0)
    return fail(ENOENT, format_text("the kernels' program {} is not there", path.string()));
  return path.string();
}

std::string workloads_folder() {
  const auto [build, own] = folders();
  return build.empty() ? (own / "../share/forebay/workloads").lexically_normal().string()
                       : (build / "workloads").string();
}

std::string slowfs_program() {
  const auto [build, own] = folders();
  return build.empty() ? (own / ".." / FOREBAY_LIBRARIES / "forebay/slowfs").lexically_normal().string()
                       : (build / "src/tools/slowfs/slowfs").string();
}

}  // namespace forebay
