#include "support/command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::minutes(2);

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Running::Running(const std::string& program, const std::vector<std::string>& arguments)
    : directory_(std::filesystem::temp_directory_path() / "forebay-run-XXXXXX") {
  if (::mkdtemp(directory_.data()) == nullptr) throw std::runtime_error("cannot make " + directory_);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, (directory_ + "/out").c_str(), O_WRONLY | O_CREAT, 0600);
  ::posix_spawn_file_actions_addopen(&files, 2, (directory_ + "/err").c_str(), O_WRONLY | O_CREAT, 0600);
  const int code = ::posix_spawnp(&pid_, program.c_str(), &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (code != 0) throw std::runtime_error("cannot run " + program + ": " + std::strerror(code));
}

Running::~Running() {
  if (pid_ > 0) {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void Running::kill() { ::kill(pid_, SIGKILL); }

Ran Running::wait() {
  const auto until = Clock::now() + kPatience;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() > until) kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pid_ = -1;
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .out = slurp(directory_ + "/out"),
          .err = slurp(directory_ + "/err")};
}

Ran run(const std::string& program, const std::vector<std::string>& arguments) {
  return Running(program, arguments).wait();
}

std::string json_value(const std::string& text, const std::string& expression) {
  auto path = std::filesystem::temp_directory_path() / "forebay-json-XXXXXX";
  std::string name = path;
  const int fd = ::mkstemp(name.data());
  if (fd < 0) throw std::runtime_error("cannot make " + name);
  ::close(fd);
  std::ofstream(name, std::ios::binary) << text;
  const auto ran = run("python3", {"-c", "import json, sys; d = json.load(open(sys.argv[1])); print(" + expression + ")", name});
  std::filesystem::remove(name);
  if (ran.code != 0) return ran.err;
  return ran.out.substr(0, ran.out.find_last_not_of('\n') + 1);
}

}  // namespace forebay
