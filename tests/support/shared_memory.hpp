// Zeroed memory that a test shares with its children: what they write there outlives their death.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "os/futex.hpp"

namespace forebay::testing {

// T must be right when all its bytes are 0. Inherited by fork; an exec'd child maps the descriptor.
template <class T>
class SharedMemory {
 public:
  SharedMemory() : fd_(::memfd_create("test", 0)) {
    if (fd_ < 0 || ::ftruncate(fd_, sizeof(T)) != 0) throw std::runtime_error("no shared memory");
    map();
  }
  explicit SharedMemory(int fd) : fd_(fd) { map(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    ::munmap(data_, sizeof(T));
    ::close(fd_);
  }
  T& operator*() const { return *data_; }
  T* operator->() const { return data_; }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  void map() {
    void* at = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (at == MAP_FAILED) throw std::runtime_error("no shared memory");
    data_ = static_cast<T*>(at);
  }
  int fd_;
  T* data_ = nullptr;
};

// Meets `parties` processes at a time. Waits without end: the test's parent watches.
struct Barrier {
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint32_t> round;
  void meet(std::uint32_t parties) {
    const auto now = round.load();
    if (arrived.fetch_add(1) + 1 == parties) {
      arrived.store(0);
      round.fetch_add(1);
      futex_wake(round);
      return;
    }
    while (round.load() == now) futex_wait(round, now, std::chrono::milliseconds(100));
  }
};

}  // namespace forebay::testing
