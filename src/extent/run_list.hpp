// The states of a bucket's bytes as a short list of runs.
//
// A list covers [0, size): run i reaches from its begin to the next one's begin, the last one to `size`. Neighbouring
// runs differ in state. Pure value, no allocation: a list of more than kCapacity runs cannot be expressed and the
// caller falls back on a ByteMap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "extent/byte_state.hpp"

namespace forebay {

class RunList {
 public:
  static constexpr unsigned kCapacity = 15;

  RunList() = default;
  static RunList uniform(ByteState state) {
    RunList list;
    list.push(0, state);
    return list;
  }

  [[nodiscard]] unsigned count() const { return count_; }
  [[nodiscard]] std::uint32_t begin(unsigned i) const { return entries_[i] >> 2; }
  [[nodiscard]] ByteState state(unsigned i) const { return static_cast<ByteState>(entries_[i] & 3); }
  [[nodiscard]] std::uint32_t end(unsigned i, std::uint32_t size) const {
    return i + 1 < count_ ? begin(i + 1) : size;
  }

  // The packed form that lies in shared memory.
  [[nodiscard]] std::uint32_t entry(unsigned i) const { return entries_[i]; }
  void set_entries(unsigned count, const std::uint32_t* entries) {
    count_ = std::min(count, kCapacity);
    std::copy_n(entries, count_, entries_.begin());
  }
  // True for what push() could have built: what comes from a damaged file may not be.
  [[nodiscard]] bool well_formed(std::uint32_t size) const {
    if (count_ == 0 || begin(0) != 0) return false;
    for (unsigned i = 1; i < count_; ++i) {
      if (begin(i) <= begin(i - 1) || begin(i) >= size || state(i) == state(i - 1)) return false;
    }
    return true;
  }

  // Calls visit(begin, end, state) for each run clipped to [from, to).
  template <class Visit>
  void for_each(std::uint32_t from, std::uint32_t to, std::uint32_t size, Visit&& visit) const {
    for (unsigned i = 0; i < count_; ++i) {
      const auto b = std::max(begin(i), from);
      const auto e = std::min(end(i, size), to);
      if (b < e) visit(b, e, state(i));
    }
  }

  // Rewrites the states of [from, to) by map(old) into `out`. False when that takes more than `limit` runs.
  template <class Map>
  bool rewrite(std::uint32_t from, std::uint32_t to, std::uint32_t size, unsigned limit, RunList& out,
               Map&& map) const {
    out.count_ = 0;
    for (unsigned i = 0; i < count_; ++i) {
      const auto b = begin(i);
      const auto e = end(i, size);
      const auto inside_begin = std::clamp(from, b, e);
      const auto inside_end = std::clamp(to, inside_begin, e);
      if (b < inside_begin && !out.push(b, state(i))) return false;
      if (inside_begin < inside_end && !out.push(inside_begin, map(state(i)))) return false;
      if (inside_end < e && !out.push(inside_end, state(i))) return false;
    }
    return out.count_ <= limit;
  }

  // Appends a run that starts at `at`; joins it to an equal predecessor. False when the list is full.
  bool push(std::uint32_t at, ByteState state) {
    if (count_ > 0 && this->state(count_ - 1) == state) return true;
    if (count_ == kCapacity) return false;
    entries_[count_++] = at << 2 | static_cast<std::uint32_t>(state);
    return true;
  }

  bool operator==(const RunList& other) const {
    return count_ == other.count_ && std::equal(entries_.begin(), entries_.begin() + count_, other.entries_.begin());
  }

 private:
  unsigned count_ = 0;
  std::array<std::uint32_t, kCapacity> entries_{};
};

}  // namespace forebay
