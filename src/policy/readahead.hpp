// Telling from the last reads of a handle what will be read next. Pure.
//
// Sequential: each read begins where the last one ended; the window doubles with each, from `min` to `max`.
// Strided: three reads of the same length at the same distance; the next ones are asked for, up to `max`
// bytes.
//
// Thread-safe without a lock, since every hit comes by here: two readers of a handle at the same moment may
// mix what they leave, which makes the pattern meaningless, and it is. Whatever is mixed, what is asked for
// lies within the file and `max`.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
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
        strided(offset, length, static_cast<std::uint64_t>(stride), size, advice);
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
  template <class T>
  class Mixed {
   public:
    Mixed() = default;
    operator T() const { return value_.load(std::memory_order_relaxed); }
    Mixed& operator=(T value) {
      value_.store(value, std::memory_order_relaxed);
      return *this;
    }

   private:
    std::atomic<T> value_ = 0;
  };

  void sequential(std::uint64_t end, std::uint64_t size, Advice& advice) {
    const std::uint64_t before = window_;
    const auto window = before == 0 ? min_ : std::min(before * 2, max_);
    window_ = window;
    const auto from = std::max<std::uint64_t>(end, brought_);
    // Half a window ahead is enough: asking for slivers costs more than it brings.
    if (from - end > window / 2) return;
    const auto to = std::min(end + window, size);
    if (to <= from) return;
    advice.ranges[advice.count++] = {from, to - from};
    brought_ = to;
  }

  void strided(std::uint64_t offset, std::uint64_t length, std::uint64_t step, std::uint64_t size,
               Advice& advice) {
    const auto ahead = std::clamp<std::uint64_t>(max_ / 4 / length, 1, kMaxRanges);
    for (std::uint64_t i = 1; i <= ahead; ++i) {
      const auto at = offset + i * step;
      if (at >= size) break;
      if (at < strided_to_) continue;
      advice.ranges[advice.count++] = {at, std::min(length, size - at)};
      strided_to_ = at + 1;
    }
  }

  const std::uint64_t min_;
  const std::uint64_t max_;
  Mixed<bool> seen_{};
  Mixed<std::uint64_t> last_offset_{};
  Mixed<std::uint64_t> last_length_{};
  Mixed<std::uint64_t> last_end_{};
  Mixed<std::int64_t> stride_{};
  Mixed<std::uint64_t> window_{};      // sequential: how far ahead
  Mixed<std::uint64_t> brought_{};     // sequential: asked for up to here
  Mixed<std::uint64_t> strided_to_{};  // strided: asked for before here
};

}  // namespace forebay
