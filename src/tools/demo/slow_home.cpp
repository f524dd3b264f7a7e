#include "tools/demo/slow_home.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/format.hpp"
#include "tools/demo/run.hpp"

namespace forebay::demo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(20);

template <class Condition>
bool eventually(Condition&& condition) {
  const auto deadline = Clock::now() + kPatience;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string last_line(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last.empty() ? "it gave no reason" : last;
}

}  // namespace

SlowHome::SlowHome(const std::filesystem::path& slowfs, const std::filesystem::path& folder, const Plan& plan)
    : source_(folder / "source"), mount_point_(folder / "home"), log_(folder / "slowfs.log") {
  if (::access("/dev/fuse", R_OK | W_OK) != 0) {
    throw std::runtime_error(format_text(
        "the demo mounts its own slow file system, and FUSE is not available here (/dev/fuse: {}): load the "
        "kernel's fuse module, or start the container with --device /dev/fuse --cap-add SYS_ADMIN",
        std::strerror(errno)));
  }
  if (::access(slowfs.c_str(), X_OK) != 0) {
    throw std::runtime_error(format_text("{} is not there: build it with ./dev build", slowfs.string()));
  }
  std::filesystem::create_directory(source_);
  std::filesystem::create_directory(mount_point_);
  start(slowfs, plan);
  try {
    wait_until_mounted();
  } catch (...) {
    stop();
    throw;
  }
}

SlowHome::~SlowHome() { stop(); }

void SlowHome::start(const std::filesystem::path& slowfs, const Plan& plan) {
  std::vector<std::string> words{slowfs,
                                 "--foreground",
                                 format_text("--write-bandwidth={}", plan.bandwidth),
                                 format_text("--read-bandwidth={}", plan.bandwidth),
                                 format_text("--latency={}us", plan.latency / std::chrono::microseconds(1)),
                                 source_,
                                 mount_point_};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
  if (pid_ != 0) return;
  // Ctrl-C is for the demo, which ends us in its own time; if it cannot, we go with it.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (log >= 0) {
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
  }
  if (::getppid() == parent) ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

void SlowHome::wait_until_mounted() {
  bool died = false;
  const bool ready = eventually([&] {
    check_interrupted();
    died = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
    return died || ::access((mount_point_ / ".slowfs/stats").c_str(), F_OK) == 0;
  });
  if (died) {
    pid_ = -1;
    throw std::runtime_error("the slow file system cannot be mounted: " + last_line(log_));
  }
  if (!ready) throw std::runtime_error("the slow file system was not mounted in time");
}

void SlowHome::stop() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  if (!eventually([&] { return ::waitpid(pid_, nullptr, WNOHANG) != 0; })) {
    ::umount2(mount_point_.c_str(), MNT_DETACH);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

}  // namespace forebay::demo
