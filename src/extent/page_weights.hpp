// The checksums of a bucket's bytes (weight.hpp), one for each page of it, as they lie in shared memory.
//
// A page's word is the weight of those bytes of the page that count, and a salt: what was summed up for
// another bucket does not match. A write of a whole page need not read what it overwrites: the word is that
// of the new bytes. Changes need the bucket's lock. `bucket` is always where the bucket begins.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay {

class PageWeights {
 public:
  static constexpr std::uint32_t kPage = 4096;
  using Word = std::atomic<std::uint64_t>;
  // How much memory the words of a bucket take.
  [[nodiscard]] static constexpr std::uint64_t storage_for(std::uint32_t bucket_size) {
    return std::uint64_t{bucket_size} / kPage * sizeof(Word);
  }

  PageWeights(Word* words, std::uint64_t salt) : words_(words), salt_(salt) {}

  // Whether the bytes that a copy overwrites have counted so far.
  enum class Old : std::uint8_t { kNone, kCounted };
  // Copies to [offset, offset + length) of the bucket, all of which counts from now on. Of pages that are
  // overwritten in part, `old` must be true for that part; of whole pages it does not matter.
  void copy_in(std::byte* bucket, const std::byte* from, std::uint32_t offset, std::uint32_t length,
               Old old) const;
  // The same for bytes that have been put there already, over what did not count.
  void count_in(const std::byte* bucket, std::uint32_t offset, std::uint32_t length) const;
  // Bytes [from, to), which have counted, do not count any more.
  void take_off(const std::byte* bucket, std::uint32_t from, std::uint32_t to) const;

  // The first `pages` words: nothing counts.
  void reset(std::uint32_t pages) const;
  void copy_words(const PageWeights& other, std::uint32_t pages) const;

  [[nodiscard]] std::uint64_t of(std::uint32_t page) const {
    return words_[page].load(std::memory_order_relaxed) - salt_;
  }
  void set(std::uint32_t page, std::uint64_t weight) const {
    words_[page].store(weight + salt_, std::memory_order_relaxed);
  }

  // Calls visit(page, begin, end) for the part of [from, to) that lies in each page.
  template <class Visit>
  static void for_each_page(std::uint32_t from, std::uint32_t to, Visit&& visit) {
    while (from < to) {
      const auto page = from / kPage;
      const auto end = std::min(to, (page + 1) * kPage);
      visit(page, from, end);
      from = end;
    }
  }

 private:
  void add(std::uint32_t page, std::uint64_t weight) const { set(page, of(page) + weight); }

  Word* words_;
  std::uint64_t salt_;
};

}  // namespace forebay
