#include "os/spawn.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>

namespace forebay {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// The actions and attributes of one spawn. Errors of the setters are ENOMEM only.
class Plan {
 public:
  Plan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    ::posix_spawn_file_actions_addchdir_np(&actions, "/");
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

}  // namespace

Status spawn_detached(const std::string& program, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment, std::chrono::milliseconds patience) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = environment;
  const Plan plan;
  pid_t pid = 0;
  if (const int error = ::posix_spawnp(&pid, program.c_str(), &plan.actions, &plan.attributes,
                                       pointers(words).data(), pointers(variables).data());
      error != 0) {
    return fail_errno(error, "start", program);
  }
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    int status = 0;
    const auto ended = ::waitpid(pid, &status, WNOHANG);
    // Somebody else of this process may have waited for any child; then it began as well as not.
    if (ended < 0 && errno == ECHILD) return {};
    if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (ended == pid) return fail(ECHILD, program + " could not begin");
    if (std::chrono::steady_clock::now() >= until) return fail(ETIMEDOUT, program + " does not begin");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string own_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &found) == 0 || found.dli_fname == nullptr)
    return {};
  std::error_code error;
  // The name of a program may be as it was called; what is running is known for sure.
  const auto path = std::filesystem::canonical(found.dli_fname, error);
  if (!error) return path.parent_path();
  const auto self = std::filesystem::canonical("/proc/self/exe", error);
  return error ? std::string() : std::string(self.parent_path());
}

}  // namespace forebay
