// What a rank did and when, for a picture: however long the run, few spans, and the last of them ends where
// the last thing ended.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace forebay::kernels {

enum class Phase : std::uint8_t { kCompute, kOpen, kCreate, kWrite, kRead, kFlush, kClose, kMetadata };
inline constexpr std::array<const char*, 8> kPhaseNames = {"compute", "open",  "create", "write",
                                                           "read",    "flush", "close",  "metadata"};

struct Span {
  Phase phase;
  double begin;  // seconds since the round began
  double end;
};

class Spans {
 public:
  static constexpr std::size_t kMost = 400;  // a picture shows no more
  static constexpr double kFinest = 0.002;   // neighbours of one kind that are nearer are one span

  // In order of time.
  void add(const Span& span) {
    append(all_, span);
    if (all_.size() <= kMost) return;
    while (all_.size() > kMost / 2) coarsen();
  }
  [[nodiscard]] const std::vector<Span>& all() const { return all_; }

 private:
  void append(std::vector<Span>& spans, const Span& span) const {
    if (!spans.empty() && spans.back().phase == span.phase && span.begin - spans.back().end < finest_) {
      spans.back().end = span.end;
    } else {
      spans.push_back(span);
    }
  }

  // All that begin in the same stretch of time become one of the kind that took most of it.
  void coarsen() {
    finest_ *= 2;
    std::vector<Span> fewer;
    for (std::size_t i = 0; i < all_.size();) {
      const auto stretch = std::floor(all_[i].begin / finest_);
      std::array<double, kPhaseNames.size()> seconds{};
      Span one = all_[i];
      for (; i < all_.size() && std::floor(all_[i].begin / finest_) == stretch; ++i) {
        seconds[std::to_underlying(all_[i].phase)] += all_[i].end - all_[i].begin;
        one.end = all_[i].end;
      }
      one.phase = static_cast<Phase>(std::ranges::max_element(seconds) - seconds.begin());
      append(fewer, one);
    }
    all_ = std::move(fewer);
  }

  double finest_ = kFinest;
  std::vector<Span> all_;
};

}  // namespace forebay::kernels
