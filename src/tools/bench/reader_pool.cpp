#include "tools/bench/reader_pool.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace forebay::kernels {
namespace {

constexpr std::size_t kWords = 512;
constexpr std::size_t kAlignment = 4096;
constexpr int kPatienceMs = 5000;

std::size_t rounded(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

enum class State : std::uint8_t { kRuns, kEnded, kFailed };

// It stays to be waited for.
State state_of(pid_t child) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  if (info.si_pid == 0) return State::kRuns;
  return info.si_code == CLD_EXITED && info.si_status == 0 ? State::kEnded : State::kFailed;
}

void wait_forever(sem_t& semaphore) {
  while (::sem_wait(&semaphore) != 0 && errno == EINTR) {
  }
}

}  // namespace

ReaderPool::ReaderPool(std::uint64_t workers, std::uint64_t slots, std::uint64_t slot_bytes,
                       std::vector<std::uint64_t> passes, const std::function<Read()>& prepare)
    : workers_(workers),
      slots_(std::max(slots, workers)),
      slot_bytes_(slot_bytes),
      tasks_(std::accumulate(passes.begin(), passes.end(), std::uint64_t{0})) {
  const auto semaphores = 1 + workers_ + 2 * slots_;
  const auto head = rounded(kWords + semaphores * sizeof(sem_t));
  size_ = head + slots_ * slot_bytes_;
  auto* const mapped =
      ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::runtime_error("no memory for what workers read");
  words_ = static_cast<char*>(mapped);
  semaphores_ = reinterpret_cast<sem_t*>(words_ + kWords);
  memory_ = reinterpret_cast<std::uint8_t*>(words_ + head);
  for (std::size_t i = 0; i < semaphores; ++i) {
    const bool empty_slot = i > workers_ && i <= workers_ + slots_;
    ::sem_init(&semaphores_[i], 1, empty_slot ? 1 : 0);
  }
  const auto parent = ::getpid();
  for (std::uint64_t i = 0; i < workers_; ++i) {
    const auto child = ::fork();
    if (child < 0) throw std::runtime_error("a worker could not be started");
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == parent) work(i, passes, prepare);
      ::_exit(0);
    }
    children_.push_back(child);
  }
  for (std::uint64_t i = 0; i < workers_; ++i) wait_for(semaphores_[0]);
}

ReaderPool::~ReaderPool() {
  for (const auto child : children_) {
    // One that has done everything closes its files and goes.
    for (int i = 0; taken_ == tasks_ && i < kPatienceMs && state_of(child) == State::kRuns; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (state_of(child) == State::kRuns) ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ::munmap(words_, size_);
}

std::span<std::uint8_t> ReaderPool::slot(std::uint64_t task) const {
  return {memory_ + task % slots_ * slot_bytes_, slot_bytes_};
}

void ReaderPool::work(std::uint64_t worker, const std::vector<std::uint64_t>& passes,
                      const std::function<Read()>& prepare) {
  auto* const pass = &semaphores_[1 + worker];
  auto* const empty = &semaphores_[1 + workers_];
  auto* const full = empty + slots_;
  try {
    const auto read = prepare();
    ::sem_post(&semaphores_[0]);
    std::uint64_t first = 0;
    for (const auto count : passes) {
      wait_forever(*pass);
      for (auto task = first + worker; task < first + count; task += workers_) {
        wait_forever(empty[task % slots_]);
        read(task, slot(task));
        ::sem_post(&full[task % slots_]);
      }
      first += count;
    }
  } catch (const std::exception& error) {
    std::strncpy(words_, error.what(), kWords - 1);
    // Whoever waits looks at the children after a while, and finds one gone.
    ::_exit(1);
  }
}

// Not for ever: a worker may have died.
void ReaderPool::wait_for(sem_t& semaphore) {
  for (;;) {
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (::sem_timedwait(&semaphore, &until) == 0) return;
    if (errno != ETIMEDOUT) continue;
    for (const auto child : children_) {
      if (state_of(child) == State::kFailed)
        throw std::runtime_error("a worker ended: " + std::string(words_));
    }
  }
}

void ReaderPool::begin_pass() {
  for (std::uint64_t i = 0; i < workers_; ++i) ::sem_post(&semaphores_[1 + i]);
}

std::span<const std::uint8_t> ReaderPool::next() {
  wait_for(semaphores_[1 + workers_ + slots_ + taken_ % slots_]);
  return slot(taken_);
}

void ReaderPool::done() { ::sem_post(&semaphores_[1 + workers_ + taken_++ % slots_]); }

}  // namespace forebay::kernels
