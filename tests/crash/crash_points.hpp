// The named crash points of the engine, counted across processes, and the arming of one of them.
//
// The names are read from the engine's sources, so that a new point is tested without being listed anywhere
// else.
#pragma once

#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

#include "engine/crash_point.hpp"
#include "support/places.hpp"
#include "support/shared_memory.hpp"

namespace forebay::testing {

inline constexpr std::size_t kMaxPoints = 128;
inline constexpr int kNoPoint = -1;
// Passed by files that are given up, of which the workers have none: stopped at by interleaving_test.cpp.
inline constexpr const char* kNotOfWorkers = "give_up.waited";

// Lies in memory that all processes of the test share.
struct CrashPoints {
  std::size_t count;
  std::array<std::array<char, 48>, kMaxPoints> names;
  std::array<std::atomic<std::uint64_t>, kMaxPoints> passed;
  std::array<std::atomic<std::uint64_t>, kMaxPoints> killed;

  void read_sources() {
    std::set<std::string> found;
    const std::regex mention("FOREBAY_CRASH_POINT\\(\"([^\"]+)\"\\)");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(in_checkout("src/engine"))) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      for (std::sregex_iterator at(text.begin(), text.end(), mention), end; at != end; ++at)
        found.insert((*at)[1]);
    }
    found.erase(kNotOfWorkers);
    if (found.empty() || found.size() > kMaxPoints)
      throw std::runtime_error("the crash points cannot be found");
    for (const auto& name : found) std::strncpy(names[count++].data(), name.c_str(), names[0].size() - 1);
  }
  [[nodiscard]] int find(const char* name) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (std::strcmp(names[i].data(), name) == 0) return static_cast<int>(i);
    }
    return kNoPoint;
  }
  [[nodiscard]] std::uint64_t kills() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += killed[i].load();
    return sum;
  }
  void print() const {
    for (std::size_t i = 0; i < count; ++i) {
      std::printf("  %-28s %6llu kills %10llu passages\n", names[i].data(),
                  static_cast<unsigned long long>(killed[i].load()),
                  static_cast<unsigned long long>(passed[i].load()));
    }
    std::fflush(stdout);
  }
};

// What this process does at a crash point.
namespace crash_detail {
inline constinit CrashPoints* points = nullptr;
inline constinit std::atomic<int> armed = kNoPoint;
inline constinit std::atomic<int> countdown = 0;

inline void at_point(const char* name) {
  const int point = points->find(name);
  if (point == kNoPoint) ::_exit(97);  // its name is not a literal
  const auto i = static_cast<std::size_t>(point);
  points->passed[i].fetch_add(1, std::memory_order_relaxed);
  if (armed.load(std::memory_order_relaxed) != point || countdown.fetch_sub(1) != 1) return;
  points->killed[i].fetch_add(1);
  ::kill(::getpid(), SIGKILL);
  // Other threads go on until the signal is delivered; this one must not.
  for (;;) ::pause();
}
}  // namespace crash_detail

// This process dies at the `nth` passage of `point` (none: it only counts).
inline void arm(CrashPoints& points, int point, int nth) {
  crash_detail::points = &points;
  crash_detail::countdown.store(nth);
  crash_detail::armed.store(point);
  set_crash_hook(crash_detail::at_point);
}

}  // namespace forebay::testing
