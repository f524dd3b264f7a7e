#include "tools/bench/recorder.hpp"

#include <fstream>

#include "base/format.hpp"

namespace forebay::kernels {
namespace {

constexpr std::size_t kMaxSpans = 400;  // of one rank: a picture shows no more
constexpr double kGap = 0.002;          // neighbours of one kind that are nearer are one span

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void Recorder::begin() {
  world_.barrier();
  begin_ = Clock::now();
  tell(format_text("began {:.6f}", clock_seconds()));
}

void Recorder::end() {
  total_ = now();
  closed_at_ = clock_seconds();
  tell(format_text("closed {:.6f}", closed_at_));
}

void Recorder::compute(double seconds) {
  if (seconds <= 0) return;
  timed(Phase::kCompute, [&] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
}

void Recorder::progress(double done) const { tell(format_text("done {:.3f}", done)); }

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
  if (!spans_.empty() && spans_.back().phase == phase && begin - spans_.back().end < kGap) {
    spans_.back().end = end;
  } else if (spans_.size() < kMaxSpans) {
    spans_.push_back({phase, begin, end});
  }
}

void Recorder::tell(const std::string& line) const {
  if (!world_.first() || job_.progress.empty()) return;
  std::ofstream(job_.progress, std::ios::app) << line + "\n";
}

}  // namespace forebay::kernels
