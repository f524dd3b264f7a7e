#include "extent/weight.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace forebay {
namespace {

std::vector<std::byte> random_bytes(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> data(n);
  for (auto& b : data) b = static_cast<std::byte>(random());
  return data;
}

// The definition, byte by byte.
std::uint64_t slow_weight(const std::byte* data, std::uint32_t offset, std::uint32_t length) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < length; ++i) {
    const auto at = offset + i;
    const std::uint32_t factor = (at / 8 + 1) * 0x9e37'79b1;
    const auto byte = static_cast<std::uint64_t>(data[i]) << (at % 4 * 8);
    total += factor * (at % 8 < 4 ? byte : byte * 0xd6e8'feb8'6659'fd93);
  }
  return total;
}

// Each way of weighing that the processor has.
class WeightOf : public ::testing::TestWithParam<WeightKernel> {
 protected:
  void SetUp() override {
    if (!choose_weight_kernel(GetParam())) GTEST_SKIP() << "SKIPPED: this processor cannot do it";
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, WeightOf,
                         ::testing::Values(WeightKernel::kWords, WeightKernel::kVectors,
                                           WeightKernel::kWideVectors));

TEST_P(WeightOf, EqualsItsDefinitionAtEveryAlignment) {
  const auto data = random_bytes(400'000, 1);
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    const auto offset = static_cast<std::uint32_t>(random() % 9000);
    const auto length = static_cast<std::uint32_t>(i % 10 == 0 ? random() % 200'000 : random() % 300);
    const auto skew = random() % 20;
    ASSERT_EQ(weigh(data.data() + skew, offset, length), slow_weight(data.data() + skew, offset, length))
        << "offset " << offset << " length " << length << " skew " << skew;
  }
}

TEST_P(WeightOf, CopyWeighsWhatItCopied) {
  const auto data = random_bytes(300'000, 3);
  alignas(4096) static std::byte bucket[1 << 18];
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    auto offset = static_cast<std::uint32_t>(random() % 70'000);
    if (i % 2 == 0) offset -= offset % kStreamAlignment;
    const auto length = static_cast<std::uint32_t>(i % 4 == 0 ? random() % 190'000 : random() % 5000);
    const auto* from = data.data() + random() % 64;
    const bool aligned = offset % kStreamAlignment == 0;
    const auto weight = aligned ? stream_and_weigh(bucket + offset, from, offset, length)
                                : copy_and_weigh(bucket + offset, from, offset, length);
    fence_streaming();
    ASSERT_EQ(weight, slow_weight(from, offset, length));
    ASSERT_EQ(std::memcmp(bucket + offset, from, length), 0);
  }
}

TEST_P(WeightOf, ReplacingWeighsTheDifference) {
  const auto data = random_bytes(300'000, 9);
  alignas(4096) static std::byte bucket[1 << 18];
  std::mt19937 random(10);
  for (int i = 0; i < 2000; ++i) {
    const auto offset = static_cast<std::uint32_t>(random() % 70'000);
    const auto length = static_cast<std::uint32_t>(i % 8 == 0 ? random() % 190'000 : random() % 5000);
    const auto* from = data.data() + random() % 64;
    const auto before = slow_weight(bucket + offset, offset, length);
    const auto grown = replace_and_weigh(bucket + offset, from, offset, length);
    ASSERT_EQ(grown, slow_weight(from, offset, length) - before);
    ASSERT_EQ(std::memcmp(bucket + offset, from, length), 0);
  }
}

TEST(Weight, IsLinear) {
  auto data = random_bytes(1 << 16, 5);
  const auto fresh = random_bytes(777, 6);
  auto weight = weigh(data.data(), 0, 1 << 16);
  weight -= weigh(data.data() + 4001, 4001, 777);
  weight += copy_and_weigh(data.data() + 4001, fresh.data(), 4001, 777);
  EXPECT_EQ(weight, weigh(data.data(), 0, 1 << 16));
}

TEST(Weight, FindsAFlippedBitAZeroedAndAnExchangedPage) {
  auto data = random_bytes(1 << 16, 7);
  const auto whole = weigh(data.data(), 0, 1 << 16);
  for (std::size_t bit : {0u, 77u, 65535u * 8u, 524287u}) {
    data[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(weigh(data.data(), 0, 1 << 16), whole);
    data[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  std::swap_ranges(data.begin(), data.begin() + 4096, data.begin() + 8192);
  EXPECT_NE(weigh(data.data(), 0, 1 << 16), whole);
  std::fill_n(data.begin() + 20480, 4096, std::byte{0});
  EXPECT_NE(weigh(data.data(), 0, 1 << 16), whole);
}

// A plain sum does not: one bit of a column that rises and one that falls cancel each other.
TEST(Weight, FindsTwoFlippedBitsOfOneColumnAndMovedWords) {
  auto data = random_bytes(4096, 8);
  const auto whole = weigh(data.data(), 0, 4096);
  for (std::size_t first = 0; first < 64; ++first) {
    for (std::size_t bit = 0; bit < 64; ++bit) {
      for (const auto word : {first, std::size_t{511}}) data[word * 8 + bit / 8] ^= std::byte{1} << (bit % 8);
      ASSERT_NE(weigh(data.data(), 0, 4096), whole) << "words " << first << " and 511, bit " << bit;
      for (const auto word : {first, std::size_t{511}}) data[word * 8 + bit / 8] ^= std::byte{1} << (bit % 8);
    }
  }
  std::rotate(data.begin(), data.begin() + 8, data.end());
  EXPECT_NE(weigh(data.data(), 0, 4096), whole);
}

}  // namespace
}  // namespace forebay
