// Telling from the last reads of a handle what will be read next. Pure.
//
// Sequential: each read begins where the last one ended; the window doubles with each, from `min` to `max`.
// Strided: three reads of the same length at the same distance; the next ones are asked for, up to `max`
// bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace forebay {

class Readahead {
 public:
  struct Range {
    std::uint64_t offset;
    std::uint64_t length;
  };
  static constexpr std::size_t kMaxRanges = 16;
  struct Advice {
    std::array<Range, kMaxRanges> ranges;
    std::size_t count = 0;
    [[nodiscard]] std::span<const Range> all() const { return {ranges.data(), count}; }
  };

  Readahead(std::uint64_t min, std::uint64_t max) : min_(min), max_(max) {}

  // Notes a read and says what to bring now. `size`: the file's.
  Advice observe(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
    Advice advice;
    if (max_ == 0 || length == 0) return advice;
    const auto end = offset + length;
    const auto stride = static_cast<std::int64_t>(offset - last_offset_);
    if (seen_ && offset == last_end_) {
      sequential(end, size, advice);
    } else {
      window_ = 0;
      brought_ = 0;
      if (seen_ && stride == stride_ && stride > 0 && length == last_length_) {
        strided(offset, length, size, advice);
      } else {
        strided_to_ = 0;
      }
    }
    stride_ = stride;
    last_offset_ = offset;
    last_length_ = length;
    last_end_ = end;
    seen_ = true;
    return advice;
  }

 private:
  void sequential(std::uint64_t end, std::uint64_t size, Advice& advice) {
    window_ = window_ == 0 ? min_ : std::min(window_ * 2, max_);
    const auto from = std::max(end, brought_);
    // Half a window ahead is enough: asking for slivers costs more than it brings.
    if (from - end > window_ / 2) return;
    const auto to = std::min(end + window_, size);
    if (to <= from) return;
    advice.ranges[advice.count++] = {from, to - from};
    brought_ = to;
  }

  void strided(std::uint64_t offset, std::uint64_t length, std::uint64_t size, Advice& advice) {
    const auto step = static_cast<std::uint64_t>(stride_);
    const auto ahead = std::clamp<std::uint64_t>(max_ / 4 / length, 1, kMaxRanges);
    for (std::uint64_t i = 1; i <= ahead; ++i) {
      const auto at = offset + i * step;
      if (at >= size) break;
      if (at < strided_to_) continue;
      advice.ranges[advice.count++] = {at, std::min(length, size - at)};
      strided_to_ = at + 1;
    }
  }

  std::uint64_t min_;
  std::uint64_t max_;
  bool seen_ = false;
  std::uint64_t last_offset_ = 0;
  std::uint64_t last_length_ = 0;
  std::uint64_t last_end_ = 0;
  std::int64_t stride_ = 0;
  std::uint64_t window_ = 0;      // sequential: how far ahead
  std::uint64_t brought_ = 0;     // sequential: asked for up to here
  std::uint64_t strided_to_ = 0;  // strided: asked for before here
};

}  // namespace forebay
