// Which HDF5 and MPI there are. A library is asked by loading it in a child process: it may pull in a whole
// MPI, and one that is broken must not take the doctor down.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "base/format.hpp"
#include "config/environment.hpp"
#include "os/fd.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/doctor/checks.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;
constexpr const char* kArea = "libraries";
constexpr int kPatienceMs = 10'000;

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

std::string ask_hdf5(void* library) {
  auto* version = symbol<int(unsigned*, unsigned*, unsigned*)>(library, "H5get_libversion");
  if (version == nullptr) return {};
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (version(&major, &minor, &release) < 0) return {};
  auto text = format_text("HDF5 {}.{}.{}", major, minor, release);
  text += symbol<void()>(library, "H5Pset_fapl_mpio") != nullptr ? ", parallel" : ", serial";
  bool safe = false;
  if (auto* threads = symbol<int(bool*)>(library, "H5is_library_threadsafe");
      threads != nullptr && threads(&safe) >= 0) {
    text += safe ? ", thread-safe" : ", not thread-safe";
  }
  if (symbol<void()>(library, "H5VLregister_connector") == nullptr)
    text += ", without VOL: too old for Forebay";
  return text;
}

std::string ask_mpi(void* library) {
  auto* version = symbol<int(char*, int*)>(library, "MPI_Get_library_version");
  if (version == nullptr) return {};
  char text[16384] = {};
  int length = 0;
  if (version(text, &length) != 0) return {};
  std::string line(text, ::strcspn(text, ",\n"));
  std::ranges::replace(line, '\t', ' ');
  const auto tail = line.find_last_not_of(' ');
  line.resize(tail == std::string::npos ? 0 : tail + 1);
  line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
             line.end());
  return line;
}

// What `ask` answers about the library at `path`; words of the loader if it cannot be loaded.
std::string ask_in_child(const std::string& path, const std::function<std::string(void*)>& ask) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    const auto answer = library == nullptr ? "cannot be loaded: " + std::string(::dlerror()) : ask(library);
    [[maybe_unused]] const auto ignored = ::write(to.get(), answer.data(), answer.size());
    ::_exit(0);
  }
  to.reset();
  std::string answer;
  for (;;) {
    pollfd ready{.fd = from.get(), .events = POLLIN, .revents = 0};
    char piece[4096];
    const auto n = ::poll(&ready, 1, kPatienceMs) == 1 ? ::read(from.get(), piece, sizeof piece) : -1;
    if (n <= 0) break;
    answer.append(piece, static_cast<std::size_t>(n));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return answer;
}

std::vector<fs::path> library_directories() {
  std::vector<fs::path> directories;
  const auto environment = Environment::current();
  const auto given = environment.get_or("LD_LIBRARY_PATH", "");
  for (std::size_t at = 0; at < given.size();) {
    const auto end = std::min(given.find(':', at), given.size());
    if (end > at) directories.emplace_back(given.substr(at, end - at));
    at = end + 1;
  }
  for (const char* usual : {"/usr/local/lib", "/usr/lib64", "/usr/lib", "/lib64"})
    directories.emplace_back(usual);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib", error)) {
    if (entry.path().filename().string().ends_with("-linux-gnu")) directories.push_back(entry.path());
  }
  return directories;
}

// "libhdf5.so.310", "libhdf5_mpich.so.310", and not "libhdf5_hl.so.310" or the links without a number.
bool is_one_of(const std::string& name, std::initializer_list<const char*> stems) {
  return std::ranges::any_of(stems, [&](const std::string& stem) {
    const auto prefix = stem + ".so.";
    return name.starts_with(prefix) && name.find('.', prefix.size()) == std::string::npos;
  });
}

void look_for(std::initializer_list<const char*> stems, const std::function<std::string(void*)>& ask,
              const char* none, Findings& findings) {
  std::set<fs::path> seen;
  bool any = false;
  for (const auto& directory : library_directories()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (!is_one_of(entry.path().filename(), stems)) continue;
      const auto real = fs::canonical(entry.path(), error);
      if (error || !seen.insert(real).second) continue;
      const auto answer = ask_in_child(entry.path(), ask);
      if (answer.empty()) continue;
      any = true;
      const bool bad = answer.starts_with("cannot") || answer.ends_with("Forebay");
      findings.push_back({kArea, bad ? Verdict::kNote : Verdict::kGood,
                          format_text("{}: {}", entry.path().string(), printable(answer))});
    }
  }
  if (!any) findings.push_back({kArea, Verdict::kNote, none});
}

}  // namespace

void check_libraries(Findings& findings) {
  look_for({"libhdf5", "libhdf5_serial", "libhdf5_mpich", "libhdf5_openmpi"}, ask_hdf5,
           "no HDF5 library in the usual places: the HDF5 door has nothing to open", findings);
  look_for({"libmpi", "libmpich"}, ask_mpi,
           "no MPI library in the usual places: the MPI door has nothing to open", findings);
}

}  // namespace forebay
