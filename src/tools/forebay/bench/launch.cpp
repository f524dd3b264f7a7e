#include "tools/forebay/bench/launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <thread>
#include <vector>

#include "base/format.hpp"
#include "config/environment.hpp"
#include "tools/forebay/run/doors.hpp"
#include "tools/forebay/run/program.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr auto kCountOptions =
    std::to_array<std::string_view>({"-n", "-np", "--np", "--n", "-ntasks", "--ntasks"});
constexpr auto kOpenMpiOptions = std::to_array<std::string_view>({"--allow-run-as-root", "--oversubscribe"});

// A machine can carry more ranks than it has cores, but not any number.
constexpr unsigned kRanksACore = 16;

Result<unsigned> ranks_of(const std::string& text) {
  unsigned ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc{} || end != text.data() + text.size() || ranks == 0)
    return fail(EINVAL, format_text("ranks: \"{}\" is no number of ranks", text));
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  if (ranks > cores * kRanksACore)
    return fail(EINVAL, format_text("ranks: {} are too many for the {} cores here (--ranks N takes fewer)",
                                    ranks, cores));
  return ranks;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

// What is left of a launcher's options without the number of ranks, and without what only Open MPI knows (and
// h5bench's own files have) if it is not Open MPI's.
std::vector<std::string> other_options(const std::vector<std::string>& options, const std::string& flavour) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (std::ranges::contains(kCountOptions, options[i])) {
      ++i;
    } else if (flavour == "openmpi" || !std::ranges::contains(kOpenMpiOptions, options[i])) {
      others.push_back(options[i]);
    }
  }
  return others;
}

// Of the HDF5 that fits a launcher, unless it is told.
Result<std::string> flavour_of(const std::string& command, const std::string& told) {
  const auto program = find_command(command, Environment::current().get_or("PATH", "/usr/bin:/bin"));
  if (!program)
    return fail(EINVAL,
                format_text("command: {} (--launcher COMMAND takes another)", program.error().message));
  if (!told.empty()) return told;
  auto flavour = mpi_of_launcher(*program);
  if (flavour.empty())
    return fail(EINVAL,
                format_text("command: it cannot be told which MPI {} is of: add \"flavour\"", command));
  return flavour;
}

struct Folders {
  fs::path build;    // empty: installed
  fs::path program;  // folder of this program
};

Folders folders() {
  const auto own = fs::path(own_program()).parent_path();
  const auto build = own.parent_path().parent_path().parent_path();
  if (std::error_code failed; fs::exists(build / "CMakeCache.txt", failed)) return {build, own};
  return {{}, own};
}

std::string first_of(const Texts& texts, const std::string& key) {
  const auto found = texts.find(key);
  return found == texts.end() ? "" : found->second;
}

}  // namespace

std::string count_in(const Texts& mpi) {
  const auto words = words_of(first_of(mpi, "configuration"));
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (std::ranges::contains(kCountOptions, words[i - 1])) return words[i];
  }
  return first_of(mpi, "ranks");
}

Result<Launch> launch_of(const Texts& mpi) {
  Launch launch;
  auto command = words_of(first_of(mpi, "command"));  // "flux run"
  launch.flavour = first_of(mpi, "flavour");
  if (command.empty()) {
    if (launch.flavour.empty()) launch.flavour = "mpich";
    command = {"mpiexec." + launch.flavour};
  }
  if (launch.flavour != "serial") {
    FOREBAY_ASSIGN(launch.flavour, flavour_of(command.front(), launch.flavour));
  }
  if (launch.flavour != "serial" && launch.flavour != "mpich" && launch.flavour != "openmpi")
    return fail(EINVAL, format_text("flavour: \"{}\" is none of serial, mpich and openmpi", launch.flavour));
  if (const auto count = count_in(mpi); !count.empty()) {
    FOREBAY_ASSIGN(launch.ranks, ranks_of(count));
  }
  if (launch.flavour == "serial") {
    if (launch.ranks != 1) return fail(EINVAL, "ranks: the serial flavour has one");
    return launch;
  }
  launch.words = std::move(command);
  for (auto& word : other_options(words_of(first_of(mpi, "configuration")), launch.flavour))
    launch.words.push_back(std::move(word));
  launch.words.insert(launch.words.end(), {"-n", std::to_string(launch.ranks)});
  if (launch.flavour == "openmpi" && first_of(mpi, "configuration").empty())
    launch.words.insert(launch.words.end(), {"--oversubscribe", "--bind-to", "none"});
  return launch;
}

const std::string& own_program() {
  static const std::string kPath = [] {
    std::error_code unknown;
    return fs::canonical("/proc/self/exe", unknown).string();
  }();
  return kPath;
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
