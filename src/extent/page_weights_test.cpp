#include "extent/page_weights.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "extent/weight.hpp"

namespace forebay {
namespace {

constexpr std::uint32_t kBucketPages = 16;
constexpr std::uint32_t kBucketSize = kBucketPages * PageWeights::kPage;

// A bucket, what counts of it byte by byte, and its words.
struct Weighed {
  explicit Weighed(std::byte* at) : bytes(at), counts(kBucketSize) { weights.reset(kBucketPages); }

  [[nodiscard]] std::uint64_t expected(std::uint32_t page) const {
    std::uint64_t total = 0;
    for (auto i = page * PageWeights::kPage; i < (page + 1) * PageWeights::kPage; ++i)
      if (counts[i]) total += weigh(bytes + i, i, 1);
    return total;
  }
  void count(std::uint32_t from, std::uint32_t length, bool yes) {
    std::fill_n(counts.begin() + from, length, yes);
  }
  [[nodiscard]] bool all(std::uint32_t from, std::uint32_t to, bool what) const {
    return std::all_of(counts.begin() + from, counts.begin() + to, [=](bool c) { return c == what; });
  }

  std::byte* bytes;
  std::vector<bool> counts;
  std::array<PageWeights::Word, kBucketPages> words{};
  PageWeights weights{words.data(), 0x1234'5678'9abc'def1};
};

class PageWeightsAt : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Skews, PageWeightsAt, ::testing::Values(0, 8, 64));

TEST_P(PageWeightsAt, AreThoseOfWhatCountsAfterAnySequenceOfChanges) {
  alignas(4096) static std::byte room[kBucketSize + 64];
  Weighed model(room + GetParam());
  std::mt19937 random(1);
  std::vector<std::byte> data(kBucketSize + 64);
  for (auto& b : data) b = static_cast<std::byte>(random());
  for (int step = 0; step < 400; ++step) {
    auto from = static_cast<std::uint32_t>(random() % kBucketSize);
    auto length = static_cast<std::uint32_t>(random() % (step % 2 == 0 ? 3000 : 30'000));
    if (step % 3 == 0) from = from / PageWeights::kPage * PageWeights::kPage;
    if (step % 5 == 0) length = PageWeights::kPage * static_cast<std::uint32_t>(1 + random() % 3);
    length = std::min(length, kBucketSize - from);
    const auto* source = data.data() + random() % 64;
    switch (random() % 4) {
      case 0:  // over nothing: what counted is taken off first
      case 1: {
        for (auto i = from; i < from + length; ++i) {
          if (!model.counts[i]) continue;
          auto end = i;
          while (end < from + length && model.counts[end]) ++end;
          model.weights.take_off(model.bytes, i, end);
          i = end - 1;
        }
        if (step % 2 == 0) {
          model.weights.copy_in(model.bytes, source, from, length, PageWeights::Old::kNone);
        } else {
          std::memcpy(model.bytes + from, source, length);
          model.weights.count_in(model.bytes, from, length);
        }
        ASSERT_EQ(std::memcmp(model.bytes + from, source, length), 0);
        model.count(from, length, true);
        break;
      }
      case 2:  // over what counts in all
        if (!model.all(from, from + length, true)) break;
        model.weights.copy_in(model.bytes, source, from, length, PageWeights::Old::kCounted);
        ASSERT_EQ(std::memcmp(model.bytes + from, source, length), 0);
        break;
      default:
        if (!model.all(from, from + length, true)) break;
        model.weights.take_off(model.bytes, from, from + length);
        model.count(from, length, false);
    }
    for (std::uint32_t page = 0; page < kBucketPages; ++page)
      ASSERT_EQ(model.weights.of(page), model.expected(page)) << "step " << step << " page " << page;
  }
}

TEST(PageWeights, AWholePageIsOverwrittenWithoutKnowingWhatCountedBefore) {
  alignas(4096) static std::byte room[kBucketSize];
  Weighed model(room);
  const std::vector<std::byte> data(kBucketSize, std::byte{7});
  model.weights.set(3, 12345);  // damaged, or forgotten
  model.weights.copy_in(model.bytes, data.data(), 3 * PageWeights::kPage, PageWeights::kPage,
                        PageWeights::Old::kCounted);
  model.count(3 * PageWeights::kPage, PageWeights::kPage, true);
  EXPECT_EQ(model.weights.of(3), model.expected(3));
}

TEST(PageWeights, ThoseOfAnotherBucketDoNotMatch) {
  alignas(4096) static std::byte room[kBucketSize];
  Weighed model(room);
  model.weights.copy_in(model.bytes, std::vector<std::byte>(kBucketSize, std::byte{9}).data(), 0, kBucketSize,
                        PageWeights::Old::kNone);
  const PageWeights other(model.words.data(), 1);
  std::array<PageWeights::Word, kBucketPages> words{};
  const PageWeights moved(words.data(), 77);
  moved.copy_words(model.weights, kBucketPages);
  for (std::uint32_t page = 0; page < kBucketPages; ++page) {
    EXPECT_NE(other.of(page), model.weights.of(page));
    EXPECT_EQ(moved.of(page), model.weights.of(page));
  }
}

}  // namespace
}  // namespace forebay
