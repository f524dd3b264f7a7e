#include "tools/forebay/bench/home.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <vector>

#include "base/format.hpp"
#include "os/fd.hpp"
#include "tools/forebay/bench/launch.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(20);

template <class Condition>
bool eventually(Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A figure of slowfs's statistics, which is one line of JSON that it writes itself.
std::uint64_t figure(const std::string& json, const std::string& kind, const std::string& name) {
  const auto section = json.find("\"" + kind + "\":{");
  const auto place = section == std::string::npos ? section : json.find("\"" + name + "\":", section);
  return place == std::string::npos ? 0 : std::strtoull(json.c_str() + place + name.size() + 3, nullptr, 10);
}

Result<fs::path> fresh_folder(const fs::path& parent) {
  std::string pattern = parent / "forebay-bench-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return fail_errno(errno, "make a directory in", parent.string());
  return fs::path(pattern);
}

}  // namespace

Result<std::unique_ptr<BenchHome>> BenchHome::make(const HomeChoice& choice, const std::string& disk) {
  std::unique_ptr<BenchHome> home(new BenchHome(choice));
  FOREBAY_TRY(choice.directory.empty() ? home->mount(disk) : home->use_directory());
  return home;
}

Status BenchHome::use_directory() {
  std::error_code failed;
  const auto wanted = fs::absolute(choice_.directory, failed);
  fs::create_directories(wanted, failed);
  if (failed) return fail_errno(failed.value(), "make the home", wanted.string());
  FOREBAY_ASSIGN(folder_, fresh_folder(fs::canonical(wanted, failed)));
  path_ = direct_ = folder_;
  return {};
}

Status BenchHome::mount(const std::string& disk) {
  if (::access("/dev/fuse", R_OK | W_OK) != 0)
    return fail_errno(errno, "mount a slow file system as home (name a directory with --home instead): open",
                      "/dev/fuse");
  std::error_code failed;
  const auto place = fs::canonical(disk, failed);
  if (failed) return fail_errno(failed.value(), "make a directory in", disk);
  FOREBAY_ASSIGN(folder_, fresh_folder(place));
  direct_ = folder_ / "source";
  path_ = folder_ / "home";
  fs::create_directory(direct_, failed);
  fs::create_directory(path_, failed);
  std::vector<std::string> words{slowfs_program(),
                                 "--foreground",
                                 format_text("--write-bandwidth={}", choice_.write_bandwidth),
                                 format_text("--read-bandwidth={}", choice_.read_bandwidth),
                                 format_text("--latency={}ns", choice_.latency_ns),
                                 direct_,
                                 path_};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto log = folder_ / "slowfs.log";
  const auto parent = ::getpid();
  slowfs_ = ::fork();
  if (slowfs_ < 0) return fail_errno(errno, "start", words[0]);
  if (slowfs_ == 0) {
    // Ctrl-C is for the suite, which ends us in its own time; if it cannot, we go with it.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int said = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(said, STDOUT_FILENO);
    ::dup2(said, STDERR_FILENO);
    if (::getppid() == parent) ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  return wait_until_mounted();
}

Status BenchHome::wait_until_mounted() {
  bool died = false;
  const bool ready = eventually([&] {
    died = ::waitpid(slowfs_, nullptr, WNOHANG) == slowfs_;
    return died || ::access((path_ / ".slowfs/stats").c_str(), F_OK) == 0;
  });
  if (died) slowfs_ = -1;
  if (ready && !died) return {};
  return fail(EIO, format_text("the slow file system cannot be mounted: {}", slurp(folder_ / "slowfs.log")));
}

void BenchHome::unmount() {
  if (slowfs_ <= 0) return;
  ::kill(slowfs_, SIGTERM);
  if (!eventually([&] { return ::waitpid(slowfs_, nullptr, WNOHANG) != 0; })) {
    ::umount2(path_.c_str(), MNT_DETACH);
    ::kill(slowfs_, SIGKILL);
    ::waitpid(slowfs_, nullptr, 0);
  }
  slowfs_ = -1;
}

BenchHome::~BenchHome() {
  unmount();
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::string BenchHome::file_system() const {
  if (is_slowfs()) return "slowfs";
  // proc(5), "mountinfo": the longest mount point that holds the path; the type follows " - ".
  std::ifstream mounts("/proc/self/mountinfo");
  std::string type = "unknown";
  std::size_t longest = 0;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string field;
    std::string point;
    for (int i = 1; i <= 5 && fields >> field; ++i) point = field;
    const auto dash = line.find(" - ");
    const bool holds = point == "/" || (path_.string() + "/").starts_with(point + "/");
    if (dash == std::string::npos || !holds || point.size() < longest) continue;
    longest = point.size();
    type = line.substr(dash + 3, line.find(' ', dash + 3) - dash - 3);
  }
  return type;
}

void BenchHome::forget_requests() const {
  if (is_slowfs()) std::ofstream(path_ / ".slowfs/control") << "reset_stats\n";
}

std::optional<HomeRequests> BenchHome::requests() const {
  if (!is_slowfs()) return std::nullopt;
  const auto json = slurp(path_ / ".slowfs/stats");
  const auto requests = [&](const char* kind) { return figure(json, kind, "requests"); };
  return HomeRequests{.reads = requests("read"),
                      .writes = requests("write"),
                      .read_bytes = figure(json, "read", "bytes"),
                      .written_bytes = figure(json, "write", "bytes"),
                      .opens = requests("open"),
                      .closes = requests("close"),
                      .lookups = requests("lookup"),
                      .queries = requests("query"),
                      .changes = requests("change"),
                      .fsyncs = requests("fsync")};
}

void BenchHome::forget_cached(const fs::path& below) const {
  if (is_slowfs()) return;  // it caches nothing
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(below, ignored)) {
    const Fd file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) continue;
    ::fdatasync(file.get());
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

}  // namespace forebay
