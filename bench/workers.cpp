#include "bench/workers.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "bench/node.hpp"
#include "os/mapping.hpp"

namespace forebay::bench {
namespace {

constexpr std::size_t kMostNumbers = 256;

struct Answer {
  std::uint32_t count;
  std::array<double, kMostNumbers> numbers;
};

struct Board {
  std::atomic<std::uint32_t> arrived;
  std::array<Answer, 64> answers;
};

[[noreturn]] void work_and_exit(Board& board, unsigned index, unsigned count, const Work& work) {
  int code = 1;
  try {
    Crowd crowd(board.arrived, index, count);
    const auto numbers = work(crowd);
    if (numbers.size() > kMostNumbers) throw std::runtime_error("a worker has too much to tell");
    auto& answer = board.answers[index];
    answer.count = static_cast<std::uint32_t>(numbers.size());
    std::ranges::copy(numbers, answer.numbers.begin());
    code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker %u: %s\n", index, error.what());
  }
  ::_exit(code);
}

}  // namespace

void Crowd::meet() {
  ++meetings_;
  arrived_.fetch_add(1);
  while (arrived_.load() < meetings_ * count_) ::sched_yield();
}

std::vector<std::vector<double>> in_processes(unsigned count, const Work& work) {
  void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || count > Board{}.answers.size()) throw std::runtime_error("too many workers");
  auto& board = *new (memory) Board{};
  std::vector<pid_t> workers;
  const pid_t parent = ::getpid();
  for (unsigned i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      work_and_exit(board, i, count, work);
    }
    if (pid > 0) workers.push_back(pid);
  }
  bool failed = workers.size() != count;
  // One that failed leaves the others waiting for it at the next meeting.
  for (std::size_t left = workers.size(); left > 0; --left) {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = ::waitpid(-1, &status, 0);
    } while (ended > 0 && std::ranges::find(workers, ended) == workers.end());
    if (ended < 0) break;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    if (!failed) {
      for (const auto pid : workers) ::kill(pid, SIGKILL);
    }
    failed = true;
  }
  std::vector<std::vector<double>> results;
  for (unsigned i = 0; i < count; ++i) {
    const auto& answer = board.answers[i];
    results.emplace_back(answer.numbers.begin(), answer.numbers.begin() + answer.count);
  }
  ::munmap(memory, sizeof(Board));
  if (failed) throw std::runtime_error("a worker failed");
  return results;
}

}  // namespace forebay::bench
