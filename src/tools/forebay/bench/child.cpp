#include "tools/forebay/bench/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(20);
constexpr auto kGrace = std::chrono::seconds(10);
constexpr std::size_t kKept = 2000;

volatile std::sig_atomic_t stopped_by = 0;
void stop(int signal) { stopped_by = signal; }

std::string end_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  while (text.ends_with('\n')) text.pop_back();
  return text.size() > kKept ? "..." + text.substr(text.size() - kKept) : text;
}

[[noreturn]] void become(std::vector<std::string> words, std::vector<std::string> variables,
                         const std::string& log, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int said = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(said, STDOUT_FILENO);
  ::dup2(said, STDERR_FILENO);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (auto& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  if (::getppid() == parent) ::execvpe(arguments[0], arguments.data(), environment.data());
  ::_exit(127);
}

// True when it has ended.
bool ended(pid_t child, int& status) { return ::waitpid(child, &status, WNOHANG) == child; }

void end_group(pid_t child, int& status) {
  ::kill(-child, SIGTERM);
  const auto deadline = Clock::now() + kGrace;
  while (!ended(child, status)) {
    if (Clock::now() > deadline) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return;
    }
    std::this_thread::sleep_for(kLook);
  }
  ::kill(-child, SIGKILL);  // whoever did not listen
}

}  // namespace

void stop_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, stop);
}

int stop_signal() { return stopped_by; }

Result<ChildEnd> run_watched(const std::vector<std::string>& words, const std::vector<std::string>& variables,
                             const std::string& log, std::chrono::seconds limit,
                             const std::function<void()>& watch) {
  const auto parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "start", words.front());
  if (child == 0) become(words, variables, log, parent);
  ::setpgid(child, child);  // whichever of us is first
  const auto deadline = Clock::now() + limit;
  ChildEnd end;
  int status = 0;
  while (!ended(child, status)) {
    watch();
    end.interrupted = stopped_by != 0;
    end.too_long = Clock::now() > deadline;
    if (end.interrupted || end.too_long) {
      end_group(child, status);
      break;
    }
    std::this_thread::sleep_for(kLook);
  }
  watch();
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.said = end_of(log);
  return end;
}

}  // namespace forebay
