#include "tools/bench/recorder.hpp"

#include <algorithm>
#include <fstream>

#include "base/format.hpp"

namespace forebay::kernels {
namespace {

double seconds_of(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

double process_memory(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::stod(line.substr(name.size())) * 1024;
  }
  return 0;
}

void Recorder::begin() {
  look_at_memory();
  world_.barrier();
  begin_ = Clock::now();
  if (world_.first()) tell(format_text("began {:.6f}", began_at()));
}

void Recorder::end() {
  total_ = now();
  tell(format_text("closed {:.6f}", seconds_of(Clock::now())));
  look_at_memory();
}

double Recorder::began_at() const { return seconds_of(begin_); }

void Recorder::look_at_memory() { own_memory_ = std::max(own_memory_, process_memory("RssAnon:")); }

void Recorder::compute(double seconds) {
  if (seconds <= 0) return;
  timed(Phase::kCompute, [&] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
}

void Recorder::progress(double done) const {
  if (world_.first()) tell(format_text("done {:.3f}", done));
}

void Recorder::end_iteration(std::string name) {
  iterations_.push_back({std::move(name), observed() - observed_before_, bytes_ - bytes_before_});
  observed_before_ = observed();
  bytes_before_ = bytes_;
}

double Recorder::observed() const {
  double sum = 0;
  for (const double one : sums_) sum += one;
  return sum - seconds(Phase::kCompute);
}

void Recorder::add(Phase phase, double begin, double end) {
  sums_[static_cast<std::size_t>(phase)] += end - begin;
  spans_.add({phase, begin, end});
}

void Recorder::tell(const std::string& line) const {
  if (job_.progress.empty()) return;
  std::ofstream(job_.progress, std::ios::app) << line + "\n";
}

}  // namespace forebay::kernels
