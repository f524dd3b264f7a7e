#include "tools/forebay/run/doors.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <ranges>

#include "base/format.hpp"
#include "config/value.hpp"
#include "tools/forebay/run/python_hdf5.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr auto kFlavours = std::to_array<std::string_view>({"serial", "mpich", "openmpi"});

struct Mpi {
  std::string_view flavour;
  std::string_view library;  // begins with this
  std::array<std::string_view, 4> launchers;
};
constexpr auto kMpis = std::to_array<Mpi>({
    {"mpich", "libmpich.so.", {"mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich", "hydra"}},
    {"openmpi", "libmpi.so.40", {"prterun", "orterun", "mpiexec.openmpi", "mpirun.openmpi"}},
});

// Programs whose arguments name another one to run.
constexpr auto kStarters = std::to_array<std::string_view>(
    {"env",           "nice",         "ionice",          "nohup",          "setsid",
     "stdbuf",        "taskset",      "numactl",         "timeout",        "time",
     "chrt",          "srun",         "mpiexec",         "mpirun",         "mpiexec.hydra",
     "mpiexec.mpich", "mpirun.mpich", "mpiexec.openmpi", "mpirun.openmpi", "prterun",
     "orterun",       "prun"});

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_starter(const std::string& word) { return std::ranges::contains(kStarters, base_name(word)); }

bool is_python(const Program& program) { return program.name().starts_with("python"); }

// The first word that names a program; options, counts and files that are none are passed over.
std::optional<std::size_t> next_program(const std::vector<std::string>& words, std::size_t from,
                                        std::string_view path_variable, std::string& found) {
  for (std::size_t i = from; i < words.size(); ++i) {
    if (words[i].starts_with('-') || words[i].contains('=')) continue;
    if (auto path = find_command(words[i], path_variable)) {
      found = std::move(*path);
      return i;
    }
  }
  return std::nullopt;
}

void prepend(Environment::Variables& variables, const std::string& name, const std::string& first) {
  auto& value = variables[name];
  value = value.empty() ? first : first + ":" + value;
}

// The MPI that the command uses; empty when it uses none, or which one cannot be told.
std::string mpi_flavour(const Command& command, const Environment::Variables& variables) {
  for (const auto& program : command.programs | std::views::reverse) {
    for (const auto& mpi : kMpis) {
      const auto is_it = [&](const auto& name) { return name.starts_with(mpi.library); };
      if (std::ranges::any_of(program.libraries, is_it)) return std::string(mpi.flavour);
    }
  }
  for (const auto& program : command.programs) {
    if (auto flavour = mpi_of_launcher(program.path); !flavour.empty()) return flavour;
  }
  if (variables.contains("OMPI_COMM_WORLD_RANK")) return "openmpi";
  if (variables.contains("PMI_RANK") && variables.contains("MPI_LOCALRANKID")) return "mpich";
  return {};
}

// The HDF5 that a plugin was made for.
std::string hdf5_of(const DoorPlaces& places, std::string_view flavour) {
  for (auto& name : needed_by(format_text("{}/libforebay_hdf5_{}.so", places.plugins, flavour))) {
    if (name.starts_with("libhdf5") && !name.contains("_hl")) return std::move(name);
  }
  return {};
}

// The flavour whose plugin fits what the command loads: only one that is made for the very same library does.
std::string hdf5_flavour(const DoorPlaces& places, const Command& command,
                         const Environment::Variables& variables) {
  const auto& program = command.programs.back();
  auto loaded = program.libraries;
  if (is_python(program)) {
    const bool ranks = variables.contains("OMPI_COMM_WORLD_SIZE") || variables.contains("MPI_LOCALNRANKS") ||
                       std::ranges::any_of(command.programs, [](const Program& one) {
                         return !mpi_of_launcher(one.path).empty();
                       });
    loaded = libraries_of_h5py(program.path, variables, ranks);
  }
  for (const auto flavour : kFlavours) {
    const auto library = hdf5_of(places, flavour);
    if (!library.empty() && std::ranges::contains(loaded, library)) return std::string(flavour);
  }
  return {};
}

void preload(const std::string& library, const std::string& door, Environment::Variables& variables,
             Opened& opened) {
  if (::access(library.c_str(), R_OK) != 0) {
    opened.remarks.push_back(format_text("{}: {} is not there", door, library));
  } else if (library.find_first_of(" :") != std::string::npos) {
    opened.remarks.push_back(
        format_text("{}: {} cannot be preloaded from a folder of that name", door, library));
  } else {
    prepend(variables, "LD_PRELOAD", library);
    opened.doors.push_back(door);
  }
}

// gcc's AddressSanitizer ends a program that has another library before its own.
void please_sanitizer(Environment::Variables& variables) {
  auto& options = variables["ASAN_OPTIONS"];
  constexpr std::string_view kOrder = "verify_asan_link_order";
  if (!options.contains(kOrder)) options += format_text("{}{}=0", options.empty() ? "" : ":", kOrder);
}

void open_mpiio(const DoorPlaces& places, const Command& command, Environment::Variables& variables,
                Opened& opened) {
  const auto flavour = mpi_flavour(command, variables);
  if (flavour.empty()) return;
  preload(format_text("{}/libforebay_mpiio_{}.so", places.libraries, flavour),
          format_text("mpiio ({})", flavour), variables, opened);
}

void open_hdf5(const DoorPlaces& places, const Command& command, Environment::Variables& variables,
               Opened& opened) {
  const auto flavour = hdf5_flavour(places, command, variables);
  if (flavour.empty()) return;
  if (variables.contains("HDF5_VOL_CONNECTOR") || variables.contains("HDF5_DRIVER")) {
    opened.remarks.emplace_back("hdf5: HDF5_VOL_CONNECTOR or HDF5_DRIVER is set already, and stays as it is");
    return;
  }
  prepend(variables, "HDF5_PLUGIN_PATH", format_text("{}/{}", places.plugins, flavour));
  variables["HDF5_VOL_CONNECTOR"] = "forebay";
  opened.doors.push_back(format_text("hdf5 ({})", flavour));
}

}  // namespace

Result<Doors> parse_doors(std::string_view text) {
  Doors doors{.posix = false, .mpiio = false, .hdf5 = false};
  for (const auto part : text | std::views::split(',')) {
    const std::string_view word(part);
    if (word == "posix") {
      doors.posix = true;
    } else if (word == "mpiio") {
      doors.mpiio = true;
    } else if (word == "hdf5") {
      doors.hdf5 = true;
    } else if (!word.empty()) {
      return fail_value(word, "hdf5, mpiio or posix");
    }
  }
  return doors;
}

DoorPlaces DoorPlaces::beside_this_program() {
  std::error_code unknown;
  const auto folder = fs::canonical("/proc/self/exe", unknown).parent_path();
  // build/<preset>/src/tools/forebay/forebay
  const auto build = folder.parent_path().parent_path().parent_path();
  if (std::error_code failed; fs::exists(build / "CMakeCache.txt", failed))
    return {.libraries = build / "lib", .plugins = build / "plugins"};
  const auto libraries = (folder / ".." / FOREBAY_LIBRARIES).lexically_normal().string();
  return {.libraries = libraries, .plugins = libraries + "/forebay/plugins"};
}

Command examine_command(const std::vector<std::string>& words, const std::string& program,
                        std::string_view path_variable) {
  Command command{.words = words, .programs = {examine_program(program, path_variable)}};
  std::string found = program;
  for (std::size_t at = 0; is_starter(words[at]);) {
    const auto next = next_program(words, at + 1, path_variable, found);
    if (!next) break;
    command.programs.push_back(examine_program(found, path_variable));
    at = *next;
  }
  return command;
}

Opened open_doors(const Doors& wanted, const DoorPlaces& places, const Command& command,
                  Environment::Variables& variables) {
  Opened opened;
  if (wanted.posix) preload(places.libraries + "/libforebay_posix.so", "posix", variables, opened);
  if (wanted.mpiio) open_mpiio(places, command, variables, opened);
  if (wanted.hdf5) open_hdf5(places, command, variables, opened);
  if (variables.contains("LD_PRELOAD")) please_sanitizer(variables);
  return opened;
}

std::string mpi_of_launcher(const std::string& program) {
  std::error_code failed;
  const auto real = base_name(fs::canonical(program, failed).string());
  for (const auto& mpi : kMpis) {
    if (std::ranges::contains(mpi.launchers, std::string_view(real))) return std::string(mpi.flavour);
  }
  return {};
}

std::string without_doors(std::string_view preloaded) {
  std::string kept;
  for (std::size_t begin = 0; begin <= preloaded.size();) {
    const auto end = std::min(preloaded.find_first_of(": ", begin), preloaded.size());
    const auto library = preloaded.substr(begin, end - begin);
    begin = end + 1;
    if (library.empty() || library.contains("/libforebay_")) continue;
    kept += (kept.empty() ? "" : ":") + std::string(library);
  }
  return kept;
}

std::vector<std::string> unseen_programs(const Command& command) {
  std::vector<std::string> all;
  for (const auto& program : command.programs) {
    if (program.linking == Linking::kStatic) all.push_back(program.path + " is linked statically");
    if (program.privileged) all.push_back(program.path + " runs with other rights than its caller");
  }
  return all;
}

}  // namespace forebay
