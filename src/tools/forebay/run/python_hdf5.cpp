#include "tools/forebay/run/python_hdf5.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tools/forebay/run/program.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> all;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory, failed)) all.push_back(entry.path());
  return all;
}

// <prefix>/lib/python3*/{site,dist}-packages
void add_sites(const fs::path& prefix, std::vector<fs::path>& sites) {
  for (const auto& library : entries_of(prefix / "lib")) {
    if (!library.filename().string().starts_with("python3")) continue;
    for (const char* name : {"site-packages", "dist-packages"}) {
      if (std::error_code failed; fs::is_directory(library / name, failed)) sites.push_back(library / name);
    }
  }
}

bool uses_system_packages(const fs::path& environment) {
  std::ifstream settings(environment / "pyvenv.cfg");
  for (std::string line; std::getline(settings, line);) {
    if (line.starts_with("include-system-site-packages")) return line.contains("true");
  }
  return false;
}

// In the order of the search, as far as that matters here.
std::vector<fs::path> site_directories(const std::string& python, const Environment::Variables& variables) {
  std::vector<fs::path> sites;
  if (const auto given = variables.find("PYTHONPATH"); given != variables.end()) {
    for (std::size_t begin = 0; begin <= given->second.size();) {
      const auto end = std::min(given->second.find(':', begin), given->second.size());
      if (end > begin) sites.emplace_back(given->second.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::error_code failed;
  const auto prefix = fs::path(python).parent_path().parent_path();
  if (fs::exists(prefix / "pyvenv.cfg", failed)) {
    add_sites(prefix, sites);
    if (!uses_system_packages(prefix)) return sites;
  }
  const auto real = fs::canonical(python, failed).parent_path().parent_path();
  if (real == "/usr") add_sites("/usr/local", sites);
  add_sites(real, sites);
  return sites;
}

// Wheels carry libraries in <package>.libs.
bool brings_hdf5(const fs::path& site) {
  return std::ranges::any_of(entries_of(site), [](const fs::path& folder) {
    if (!folder.filename().string().ends_with(".libs")) return false;
    return std::ranges::any_of(entries_of(folder), [](const fs::path& file) {
      return file.filename().string().starts_with("libhdf5");
    });
  });
}

std::vector<std::string> needed_by_modules(const fs::path& package) {
  for (const auto& file : entries_of(package)) {
    if (file.filename().string().starts_with("_errors.") && file.extension() == ".so") return needed_by(file);
  }
  return {};
}

}  // namespace

std::vector<std::string> libraries_of_h5py(const std::string& python, const Environment::Variables& variables,
                                           bool ranks) {
  const auto sites = site_directories(python, variables);
  if (std::ranges::any_of(sites, brings_hdf5)) return {};
  const bool mpi =
      variables.contains("H5PY_ALWAYS_USE_MPI") || (ranks && !variables.contains("H5PY_NEVER_USE_MPI"));
  for (const auto& site : sites) {
    // Debian has two in one package, and takes the one for MPI in ranks of an MPI program.
    const auto package = site / "h5py";
    const auto inner = package / (mpi ? "_debian_h5py_mpi" : "_debian_h5py_serial");
    for (const auto& folder : {inner, package}) {
      if (auto needed = needed_by_modules(folder); !needed.empty()) return needed;
    }
    if (std::error_code failed; fs::exists(package, failed)) return {};
  }
  return {};
}

}  // namespace forebay
