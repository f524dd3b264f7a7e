// Where the processes of a run leave their figures for the one that started them: memory shared across fork.
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>
#include <system_error>

namespace forebay::demo {

inline constexpr unsigned kMostProcesses = 64;

struct Board {
  struct Worker {
    std::atomic<unsigned> computed;     // steps so far
    std::atomic<unsigned> checkpoints;  // written so far
    std::atomic<std::int64_t> observed_ns;
    std::atomic<std::int64_t> last_wait_ns;
    std::atomic<std::int64_t> ended_ns;  // since `start`; 0 until then
    std::array<char, 512> failure;       // words, written before it exits with an error
  };
  std::atomic<std::int64_t> start_ns;  // steady clock; 0: wait
  std::array<Worker, kMostProcesses> workers;
};

class SharedBoard {
 public:
  SharedBoard() {
    void* const memory =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot map memory");
    board_ = new (memory) Board{};
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  ~SharedBoard() { ::munmap(board_, sizeof(Board)); }
  Board* operator->() const { return board_; }
  Board& operator*() const { return *board_; }

 private:
  Board* board_;
};

inline std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace forebay::demo
