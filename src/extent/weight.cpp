#include "extent/weight.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace forebay {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::uint32_t kBlock = 64;
static_assert(kBlock == kStreamAlignment);

// Odd, so that multiples of it are different modulo 2^32.
constexpr std::uint32_t kStep = 0x9e37'79b1;
constexpr std::uint64_t kHigh = 0xd6e8'feb8'6659'fd93;
constexpr std::uint32_t multiplier(std::uint32_t word) { return (word + 1) * kStep; }

// kReplaced: what is overwritten is weighed too, and taken off.
enum class Store { kNone, kCached, kStreamed, kReplaced };

std::uint64_t weigh_word(std::uint32_t place, std::uint64_t word) {
  return multiplier(place) * ((word & 0xffff'ffff) + kHigh * (word >> 32));
}

// Whole words, the first of them at place `word` of its bucket, and, unless kNone, stores them.
template <Store store>
std::uint64_t words_one_by_one(std::byte* to, const std::byte* from, std::uint32_t word,
                               std::uint32_t count) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t value;
    std::memcpy(&value, from + std::size_t{i} * 8, 8);
    if constexpr (store == Store::kReplaced) {
      std::uint64_t old;
      std::memcpy(&old, to + std::size_t{i} * 8, 8);
      total -= weigh_word(word + i, old);
    }
    if constexpr (store != Store::kNone) std::memcpy(to + std::size_t{i} * 8, &value, 8);
    total += weigh_word(word + i, value);
  }
  return total;
}

bool has(WeightKernel kernel) {
#ifdef __x86_64__
  // Processors with wide vectors from before these instructions slow down when they use them.
  if (kernel == WeightKernel::kWideVectors) return __builtin_cpu_supports("avx512vbmi2") != 0;
  if (kernel == WeightKernel::kVectors) return __builtin_cpu_supports("avx2") != 0;
#endif
  return kernel == WeightKernel::kWords;
}
WeightKernel best_kernel() {
  for (const auto kernel : {WeightKernel::kWideVectors, WeightKernel::kVectors}) {
    if (has(kernel)) return kernel;
  }
  return WeightKernel::kWords;
}
// Asked for before this is initialised, it is kWords, which is slower and no less right.
WeightKernel chosen = best_kernel();

#ifdef __x86_64__
// The same for blocks of 64 bytes. kStreamed wants `to` aligned to a block.
template <Store store>
__attribute__((target("avx512f"))) std::uint64_t blocks_by_wide_vectors(std::byte* to, const std::byte* from,
                                                                        std::uint32_t word,
                                                                        std::uint32_t blocks) {
  // The multiplier of a word in both halves of its lane.
  alignas(kBlock) std::uint32_t first[16];
  for (std::uint32_t i = 0; i < 16; ++i) first[i] = multiplier(word + i / 2);
  __m512i factor = _mm512_load_si512(first);
  const __m512i step = _mm512_set1_epi32(static_cast<int>(8 * kStep));
  __m512i low = _mm512_setzero_si512();
  __m512i high = _mm512_setzero_si512();
  // What is replaced counts as a difference of halves modulo 2^32; where that has wrapped, the multiplier is
  // owed 2^32 times.
  __m512i owed = _mm512_setzero_si512();
  for (std::uint32_t i = 0; i < blocks; ++i, from += kBlock, to += store == Store::kNone ? 0 : kBlock) {
    const __m512i x = _mm512_loadu_si512(from);
    __m512i counts = x;
    if constexpr (store == Store::kReplaced) {
      const __m512i old = _mm512_loadu_si512(to);
      owed = _mm512_mask_add_epi32(owed, _mm512_cmplt_epu32_mask(x, old), owed, factor);
      counts = _mm512_sub_epi32(x, old);
    }
    low = _mm512_add_epi64(low, _mm512_mul_epu32(counts, factor));
    high = _mm512_add_epi64(high, _mm512_mul_epu32(_mm512_srli_epi64(counts, 32), factor));
    if constexpr (store == Store::kStreamed) _mm512_stream_si512(reinterpret_cast<__m512i*>(to), x);
    if constexpr (store == Store::kCached || store == Store::kReplaced) _mm512_storeu_si512(to, x);
    factor = _mm512_add_epi32(factor, step);
  }
  const auto sum = [](__m512i lanes) __attribute__((target("avx512f"))) {
    // Not _mm512_reduce_add_epi64: its last additions are of signed numbers, which must not overflow.
    const __m256i four = _mm256_add_epi64(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    const __m128i one = _mm_add_epi64(two, _mm_unpackhi_epi64(two, two));
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(one));
  };
  auto low_sum = sum(low);
  auto high_sum = sum(high);
  if constexpr (store == Store::kReplaced) {
    low_sum -= sum(_mm512_slli_epi64(owed, 32));
    high_sum -= sum(_mm512_slli_epi64(_mm512_srli_epi64(owed, 32), 32));
  }
  return low_sum + kHigh * high_sum;
}

template <Store store>
__attribute__((target("avx2"))) std::uint64_t blocks_by_vectors(std::byte* to, const std::byte* from,
                                                                std::uint32_t word, std::uint32_t blocks) {
  // Only the low half of a lane is multiplied: what a step carries into the high half does not matter.
  const __m256i step = _mm256_set1_epi64x(std::int64_t{8} * kStep);
  __m256i factor[2];
  for (std::uint32_t k = 0; k < 2; ++k) {
    const auto at = word + 4 * k;
    factor[k] = _mm256_set_epi64x(multiplier(at + 3), multiplier(at + 2), multiplier(at + 1), multiplier(at));
  }
  __m256i low[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  __m256i high[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (std::uint32_t i = 0; i < blocks; ++i, from += kBlock, to += store == Store::kNone ? 0 : kBlock) {
    // Or the compiler keeps the sums in memory.
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + k);
      auto* at = reinterpret_cast<__m256i*>(to) + k;
      low[k] = _mm256_add_epi64(low[k], _mm256_mul_epu32(x, factor[k]));
      high[k] = _mm256_add_epi64(high[k], _mm256_mul_epu32(_mm256_srli_epi64(x, 32), factor[k]));
      if constexpr (store == Store::kReplaced) {
        const __m256i old = _mm256_loadu_si256(at);
        low[k] = _mm256_sub_epi64(low[k], _mm256_mul_epu32(old, factor[k]));
        high[k] = _mm256_sub_epi64(high[k], _mm256_mul_epu32(_mm256_srli_epi64(old, 32), factor[k]));
      }
      if constexpr (store == Store::kStreamed) _mm256_stream_si256(at, x);
      if constexpr (store == Store::kCached || store == Store::kReplaced) _mm256_storeu_si256(at, x);
      factor[k] = _mm256_add_epi64(factor[k], step);
    }
  }
  std::uint64_t lanes[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), _mm256_add_epi64(low[0], low[1]));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes + 4), _mm256_add_epi64(high[0], high[1]));
  return lanes[0] + lanes[1] + lanes[2] + lanes[3] + kHigh * (lanes[4] + lanes[5] + lanes[6] + lanes[7]);
}
#endif

template <Store store>
std::uint64_t whole_blocks(std::byte* to, const std::byte* from, std::uint32_t word, std::uint32_t blocks) {
#ifdef __x86_64__
  if (chosen == WeightKernel::kWideVectors) return blocks_by_wide_vectors<store>(to, from, word, blocks);
  if (chosen == WeightKernel::kVectors) return blocks_by_vectors<store>(to, from, word, blocks);
#endif
  return words_one_by_one<store>(to, from, word, blocks * (kBlock / 8));
}

// Single words and parts of words: what lies before and after the whole blocks.
template <Store store>
std::uint64_t odd_bytes(std::byte* to, const std::byte* from, std::uint32_t offset, std::uint32_t length) {
  std::uint64_t total = 0;
  if constexpr (store == Store::kReplaced) total -= odd_bytes<Store::kNone>(nullptr, to, offset, length);
  if (store != Store::kNone && length != 0) std::memcpy(to, from, length);
  for (std::uint32_t done = 0; done < length;) {
    const auto at = offset + done;
    const auto n = std::min(length - done, 8 - at % 8);
    std::uint64_t word = 0;
    std::memcpy(&word, from + done, n);
    total += weigh_word(at / 8, word << (at % 8 * 8));
    done += n;
  }
  return total;
}

// The same pass serves weighing and copying, so that both agree on what the weight is.
template <Store store>
std::uint64_t pass(std::byte* to, const std::byte* from, std::uint32_t offset, std::uint32_t length) {
  const auto head = std::min((kBlock - offset % kBlock) % kBlock, length);
  const auto blocks = (length - head) / kBlock;
  const auto tail = head + blocks * kBlock;
  const auto target = [to](std::uint32_t at) { return store == Store::kNone ? nullptr : to + at; };
  return odd_bytes<store>(to, from, offset, head) +
         whole_blocks<store>(target(head), from + head, (offset + head) / 8, blocks) +
         odd_bytes<store>(target(tail), from + tail, offset + tail, length - tail);
}

}  // namespace

bool choose_weight_kernel(WeightKernel kernel) {
  if (!has(kernel)) return false;
  chosen = kernel;
  return true;
}

std::uint64_t weigh(const std::byte* data, std::uint32_t offset, std::uint32_t length) {
  return pass<Store::kNone>(nullptr, data, offset, length);
}

std::uint64_t copy_and_weigh(std::byte* to, const std::byte* from, std::uint32_t offset,
                             std::uint32_t length) {
  return pass<Store::kCached>(to, from, offset, length);
}

std::uint64_t stream_and_weigh(std::byte* to, const std::byte* from, std::uint32_t offset,
                               std::uint32_t length) {
  return pass<Store::kStreamed>(to, from, offset, length);
}

void fence_streaming() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

std::uint64_t replace_and_weigh(std::byte* to, const std::byte* from, std::uint32_t offset,
                                std::uint32_t length) {
  return pass<Store::kReplaced>(to, from, offset, length);
}

}  // namespace forebay
