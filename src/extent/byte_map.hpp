// The states of a heavily fragmented bucket's bytes: two bits a byte in shared memory.
//
// Updates go word by word, each word by one atomic store, so that a process killed in between leaves a legal
// mixture of old and new states (the caller chooses the order of its updates so that every prefix is legal).
// Readers without the bucket's lock validate by the bucket's version.
#pragma once

#include <algorithm>
#include <atomic>
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
      for (; at < word_end; ++at) {
        const auto found = extract(word, at % kBytesPerWord);
        if (found == run_state) continue;
        if (run_begin < at) visit(run_begin, at, run_state);
        run_begin = at;
        run_state = found;
      }
    }
    if (run_begin < to) visit(run_begin, to, run_state);
  }

  // Rewrites the states of [from, to) by map(old). Returns the change of the sum of all words (modulo 2^64),
  // with which the caller keeps a checksum of the map.
  template <class Map>
  std::uint64_t rewrite(std::uint32_t from, std::uint32_t to, Map&& map) {
    std::uint64_t change = 0;
    for (std::uint32_t at = from; at < to;) {
      const auto index = at / kBytesPerWord;
      const auto word_end = std::min(to, (index + 1) * kBytesPerWord);
      const std::uint64_t before = load(index);
      std::uint64_t after = before;
      for (; at < word_end; ++at) {
        const auto shift = at % kBytesPerWord * 2;
        const auto changed = map(static_cast<ByteState>(after >> shift & 3));
        after = (after & ~(std::uint64_t{3} << shift)) | static_cast<std::uint64_t>(changed) << shift;
      }
      if (after != before) std::atomic_ref(words_[index]).store(after, std::memory_order_relaxed);
      change += after - before;
    }
    return change;
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
  static constexpr std::uint64_t uniform(ByteState s) {
    return 0x5555555555555555u * static_cast<unsigned>(s);
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
