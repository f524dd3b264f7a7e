// The states of a heavily fragmented bucket's bytes: two bits a byte in shared memory.
//
// Updates go word by word, each word by one atomic store, so that a process killed in between leaves a legal
// mixture of old and new states (the caller chooses the order of its updates so that every prefix is legal).
// Readers without the bucket's lock validate by the bucket's version.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "extent/byte_state.hpp"

namespace forebay {

class ByteMap {
 public:
  static constexpr std::uint32_t kBytesPerWord = 32;
  [[nodiscard]] static constexpr std::uint64_t storage_for(std::uint64_t bucket_size) {
    return bucket_size / 4;
  }

  ByteMap() = default;
  explicit ByteMap(std::uint64_t* words) : words_(words) {}

  // Calls visit(begin, end, state) for the maximal runs of [from, to).
  template <class Visit>
  void for_each(std::uint32_t from, std::uint32_t to, Visit&& visit) const {
    std::uint32_t run_begin = from;
    std::uint32_t at = from;
    ByteState run_state = from < to ? state(from) : ByteState::kInvalid;
    while (at < to) {
      const std::uint64_t word = load(at / kBytesPerWord);
      const auto word_end = std::min(to, (at / kBytesPerWord + 1) * kBytesPerWord);
      if (word == uniform(run_state)) {
        at = word_end;
        continue;
      }
      while (at < word_end) {
        const auto differs = (word ^ uniform(run_state)) >> (at % kBytesPerWord * 2);
        at += differs == 0 ? kBytesPerWord : static_cast<std::uint32_t>(std::countr_zero(differs)) / 2;
        if (at >= word_end) break;
        if (run_begin < at) visit(run_begin, at, run_state);
        run_begin = at;
        run_state = extract(word, at % kBytesPerWord);
      }
      at = word_end;
    }
    if (run_begin < to) visit(run_begin, to, run_state);
  }

  // Rewrites the states of [from, to) by map(old), which must depend on nothing else. Returns the change of
  // the sum of all words (modulo 2^64), with which the caller keeps a checksum of the map.
  template <class Map>
  std::uint64_t rewrite(std::uint32_t from, std::uint32_t to, Map&& map) {
    std::array<std::uint64_t, 4> becomes;
    for (unsigned s = 0; s < 4; ++s) becomes[s] = static_cast<std::uint64_t>(map(static_cast<ByteState>(s)));
    std::uint64_t change = 0;
    for (std::uint32_t at = from; at < to;) {
      const auto index = at / kBytesPerWord;
      const auto word_end = std::min(to, (index + 1) * kBytesPerWord);
      const auto touched = ~std::uint64_t{0} >> (64 - (word_end - at) * 2) << (at % kBytesPerWord * 2);
      const std::uint64_t before = load(index);
      const auto after = (before & ~touched) | (mapped(before, becomes) & touched);
      if (after != before) std::atomic_ref(words_[index]).store(after, std::memory_order_relaxed);
      change += after - before;
      at = word_end;
    }
    return change;
  }

  // Of the first `size` bytes. Both look no further than they must.
  [[nodiscard]] bool any_unsaved(std::uint32_t size) const {
    for (std::uint32_t i = 0; i < size / kBytesPerWord; ++i) {
      if ((load(i) & kUnsavedBits) != 0) return true;
    }
    return false;
  }
  [[nodiscard]] bool all_unsaved(std::uint32_t size) const {
    for (std::uint32_t i = 0; i < size / kBytesPerWord; ++i) {
      if ((load(i) & kUnsavedBits) != kUnsavedBits) return false;
    }
    return true;
  }

  [[nodiscard]] std::uint64_t sum(std::uint32_t size) const {
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < size / kBytesPerWord; ++i) total += load(i);
    return total;
  }

  [[nodiscard]] ByteState state(std::uint32_t at) const {
    return extract(load(at / kBytesPerWord), at % kBytesPerWord);
  }

 private:
  // Set of the states that are unsaved, and of no other.
  static constexpr std::uint64_t kUnsavedBits = 0xaaaa'aaaa'aaaa'aaaa;
  static_assert(!unsaved(ByteState{0}) && !unsaved(ByteState{1}) && unsaved(ByteState{2}) &&
                unsaved(ByteState{3}));

  static constexpr std::uint64_t uniform(ByteState s) {
    return 0x5555555555555555u * static_cast<unsigned>(s);
  }
  // All states of a word at once: for each state the places that have it, times what it becomes.
  static constexpr std::uint64_t mapped(std::uint64_t word, const std::array<std::uint64_t, 4>& becomes) {
    constexpr auto kLow = uniform(ByteState{1});
    const auto low = word & kLow;
    const auto high = word >> 1 & kLow;
    return (kLow & ~low & ~high) * becomes[0] + (low & ~high) * becomes[1] + (high & ~low) * becomes[2] +
           (low & high) * becomes[3];
  }
  static constexpr ByteState extract(std::uint64_t word, std::uint32_t i) {
    return static_cast<ByteState>(word >> (i * 2) & 3);
  }
  [[nodiscard]] std::uint64_t load(std::uint32_t i) const {
    return std::atomic_ref(words_[i]).load(std::memory_order_relaxed);
  }

  std::uint64_t* words_ = nullptr;
};

}  // namespace forebay
