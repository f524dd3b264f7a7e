// Work in several processes at once.
//
// The processes are forked from the caller, which must not be attached to a buffer at that moment: each
// attaches for itself. They end with their parent.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace forebay::bench {

// What a worker sees of the others.
class Crowd {
 public:
  Crowd(std::atomic<std::uint32_t>& arrived, unsigned index, unsigned count)
      : arrived_(arrived), index_(index), count_(count) {}
  [[nodiscard]] unsigned index() const { return index_; }
  [[nodiscard]] unsigned count() const { return count_; }
  // Returns when all have come here. Every worker calls it equally often.
  void meet();

 private:
  std::atomic<std::uint32_t>& arrived_;
  unsigned index_;
  unsigned count_;
  std::uint32_t meetings_ = 0;
};

// Runs `work` in `count` processes; what each returned, at most 256 numbers. Throws if one of them failed.
using Work = std::function<std::vector<double>(Crowd&)>;
[[nodiscard]] std::vector<std::vector<double>> in_processes(unsigned count, const Work& work);

}  // namespace forebay::bench
