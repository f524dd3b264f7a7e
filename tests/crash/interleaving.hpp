// One process stops at a crash point, another acts, and the first goes on or is killed there.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/log.hpp"
#include "engine/buffer.hpp"
#include "engine/crash_point.hpp"
#include "support/child.hpp"
#include "support/place.hpp"
#include "support/shared_memory.hpp"

namespace forebay::testing {

using namespace std::chrono_literals;

// Where a child stops, and whether it did. One per test, shared with the children.
struct Gate {
  std::atomic<bool> reached;
  std::atomic<bool> open;
};
inline constinit Gate* gate = nullptr;
inline constinit std::atomic<const char*> stop_at = nullptr;

inline void stop_here(const char* name) {
  const auto* wanted = stop_at.load();
  if (wanted == nullptr || std::strcmp(name, wanted) != 0 || stop_at.exchange(nullptr) == nullptr) return;
  gate->reached.store(true);
  while (!gate->open.load()) std::this_thread::sleep_for(1ms);
}
inline void stop_at_point(const char* name) {
  stop_at = name;
  set_crash_hook(stop_here);
}

inline constexpr const char* kQuiet = "drain.trigger=never limits.lock_wait=10s limits.home_wait=10s";

inline std::string letters(std::size_t size, char c) { return std::string(size, c); }
inline void put(File& file, std::uint64_t at, const std::string& bytes) {
  const auto done = file.write(at, std::as_bytes(std::span(bytes)));
  if (!done || *done != bytes.size())
    throw std::runtime_error("write: " + (done ? "short" : done.error().message));
}
inline std::string get(File& file, std::uint64_t at, std::size_t size) {
  std::string bytes(size, '?');
  const auto got = file.read(at, std::as_writable_bytes(std::span(bytes)));
  if (!got) throw std::runtime_error("read: " + got.error().message);
  bytes.resize(*got);
  return bytes;
}
inline void must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

class Interleaving : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_level(LogLevel::Off);
    gate = &*gate_;
  }
  bool reached() {
    for (int i = 0; i < 20'000 && !gate_->reached.load(); ++i) std::this_thread::sleep_for(1ms);
    return gate_->reached.load();
  }
  static std::shared_ptr<File> open(Buffer& buffer, const Place& place, int flags = O_RDWR | O_CREAT) {
    auto file = buffer.open(place.home("a"), flags);
    if (!file) throw std::runtime_error(file.error().message);
    return *file;
  }
  const SharedMemory<Gate> gate_;
};

}  // namespace forebay::testing
