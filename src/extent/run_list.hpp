// The states of a bucket's bytes as runs, and the few words that they lie in.
//
// A list covers [0, size): run i reaches from its begin to the next one's begin, the last one to `size`.
// Neighbouring runs differ in state. Pure value, no allocation.
//
// In shared memory a list has kWords words of 32 bits. Up to kWords runs lie there as they are (`count` of
// them, begin and state in each word). More runs lie there as grains: two bits for each of 128 equal parts of
// the bucket, the state of its first byte, and up to kOddRuns runs that begin elsewhere (`count` is 0). So
// pages in any order always fit. What fits neither way cannot be expressed, and the caller falls back on a
// ByteMap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "extent/byte_state.hpp"

namespace forebay {

// How much of the words a list may use.
enum class Room : std::uint8_t {
  kAll,
  kWrite,  // leaves what a later truncation needs: one more run, wherever it begins
  kFill,   // leaves half, so that clean bytes do not crowd out written ones
};

class RunList {
 public:
  static constexpr unsigned kWords = 15;
  static constexpr unsigned kGrains = 128;
  static constexpr unsigned kGrainWords = kGrains / 16;
  static constexpr unsigned kOddRuns = kWords - kGrainWords;
  // A rewrite of what was packed adds two runs at most.
  static constexpr unsigned kCapacity = kGrains + kOddRuns + 2;

  struct Packed {
    unsigned count = 0;  // of runs; 0: grains
    std::array<std::uint32_t, kWords> words{};
    [[nodiscard]] unsigned used() const { return count == 0 ? kWords : count; }
    bool operator==(const Packed&) const = default;
  };

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

  // Calls visit(begin, end, state) for each run clipped to [from, to).
  template <class Visit>
  void for_each(std::uint32_t from, std::uint32_t to, std::uint32_t size, Visit&& visit) const {
    for (unsigned i = 0; i < count_; ++i) {
      const auto b = std::max(begin(i), from);
      const auto e = std::min(end(i, size), to);
      if (b < e) visit(b, e, state(i));
    }
  }

  // Rewrites the states of [from, to) by map(old) into `out`. False when those are too many runs for any
  // list.
  template <class Map>
  bool rewrite(std::uint32_t from, std::uint32_t to, std::uint32_t size, RunList& out, Map&& map) const {
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
    return true;
  }

  // Appends a run that starts at `at`; joins it to an equal predecessor. False when the list is full.
  bool push(std::uint32_t at, ByteState state) {
    if (count_ > 0 && this->state(count_ - 1) == state) return true;
    if (count_ == kCapacity) return false;
    entries_[count_++] = at << 2 | static_cast<std::uint32_t>(state);
    return true;
  }

  // False when it does not fit in that much room.
  bool pack(std::uint32_t size, Room room, Packed& packed) const {
    if (count_ <= allowed(kWords, room)) {
      packed.count = count_;
      std::copy_n(entries_.begin(), count_, packed.words.begin());
      return true;
    }
    return pack_grains(size / kGrains, allowed(kOddRuns, room), packed);
  }
  // From the `count` and the words of a packed list: word(i) is asked once for each. Of anything that lies in
  // memory: what pack() could not have made gives a list that is not well formed.
  template <class Word>
  static RunList unpack(unsigned count, std::uint32_t size, Word&& word) {
    RunList list;
    if (count == 0) {
      std::array<std::uint32_t, kWords> words;
      for (unsigned i = 0; i < kWords; ++i) words[i] = word(i);
      list.unpack_grains(words, size / kGrains);
    } else {
      list.count_ = std::min(count, kWords);
      for (unsigned i = 0; i < list.count_; ++i) list.entries_[i] = word(i);
    }
    return list;
  }
  static RunList unpack(const Packed& packed, std::uint32_t size) {
    return unpack(packed.count, size, [&](unsigned i) { return packed.words[i]; });
  }
  [[nodiscard]] bool well_formed(std::uint32_t size) const {
    if (count_ == 0 || begin(0) != 0) return false;
    for (unsigned i = 1; i < count_; ++i) {
      if (begin(i) <= begin(i - 1) || begin(i) >= size || state(i) == state(i - 1)) return false;
    }
    return true;
  }

  bool operator==(const RunList& other) const {
    return count_ == other.count_ &&
           std::equal(entries_.begin(), entries_.begin() + count_, other.entries_.begin());
  }

 private:
  static constexpr unsigned allowed(unsigned all, Room room) {
    if (room == Room::kFill) return all / 2;
    return room == Room::kWrite ? all - 1 : all;
  }

  bool pack_grains(std::uint32_t grain, unsigned odd_runs, Packed& packed) const {
    packed = {};
    unsigned odd = 0;
    for (unsigned i = 0; i < count_; ++i) {
      const auto at = begin(i);
      if (at % grain != 0) {
        if (odd == odd_runs) return false;
        packed.words[kGrainWords + odd++] = entries_[i];
      }
      const auto last = i + 1 < count_ ? (begin(i + 1) + grain - 1) / grain : kGrains;
      for (auto g = (at + grain - 1) / grain; g < last; ++g) {
        packed.words[g / 16] |= static_cast<std::uint32_t>(state(i)) << (g % 16 * 2);
      }
    }
    return true;
  }

  void unpack_grains(const std::array<std::uint32_t, kWords>& words, std::uint32_t grain) {
    unsigned odd = kGrainWords;
    const auto push_odd_before = [&](std::uint32_t end) {
      for (; odd < kWords && words[odd] != 0 && words[odd] >> 2 < end; ++odd) {
        push(words[odd] >> 2, static_cast<ByteState>(words[odd] & 3));
      }
    };
    for (unsigned w = 0; w < kGrainWords; ++w) {
      const auto word = words[w];
      const bool more_odd = odd < kWords && words[odd] != 0;
      const bool as_before =
          count_ > 0 && word == static_cast<std::uint32_t>(state(count_ - 1)) * 0x5555'5555u;
      if (as_before && !more_odd) continue;
      for (unsigned g = w * 16; g < w * 16 + 16; ++g) {
        if (more_odd) push_odd_before(g * grain);
        push(g * grain, static_cast<ByteState>(word >> (g % 16 * 2) & 3));
      }
    }
    push_odd_before(kGrains * grain);
  }

  unsigned count_ = 0;
  std::array<std::uint32_t, kCapacity> entries_;  // the first count_ of them
};

}  // namespace forebay
