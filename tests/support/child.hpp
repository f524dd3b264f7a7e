// A process that a test starts, watches and kills.
//
// The parent must have no threads of its own at that moment. A child never returns into the test: its body's
// value is its exit status, an exception ends it with kThrew and its words on standard error. It dies with
// its parent.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace forebay::testing {

class Child {
 public:
  static constexpr int kThrew = 99;

  Child() = default;
  template <class Body>
  explicit Child(Body&& body) {
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kThrew);
    int status = kThrew;
    try {
      status = body();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "child %d: %s\n", ::getpid(), e.what());
    }
    std::fflush(nullptr);
    ::_exit(status);
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}
  Child& operator=(Child&& other) noexcept {
    end();
    pid_ = std::exchange(other.pid_, -1);
    status_ = other.status_;
    return *this;
  }
  ~Child() { end(); }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);
  }
  void kill() const { signal(SIGKILL); }

  // Its status as waitpid(2) gives it, once it has ended.
  std::optional<int> ended() {
    if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
    return pid_ > 0 ? std::nullopt : std::optional(status_);
  }
  std::optional<int> wait(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
      if (const auto status = ended()) return status;
      if (std::chrono::steady_clock::now() >= until) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Did it end by itself with status 0 in time? If not, it is killed.
  bool finished(std::chrono::milliseconds patience = std::chrono::seconds(60)) {
    const auto status = wait(patience);
    if (!status) end();
    return status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
  }
  // Kills it and waits until it is gone.
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
    pid_ = -1;
  }

  static bool was_killed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }
  static bool was_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
};

}  // namespace forebay::testing
