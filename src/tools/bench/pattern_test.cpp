#include "tools/bench/pattern.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace forebay::kernels {
namespace {

template <class T>
std::vector<T> made(const Source& source, std::uint64_t first, std::size_t count) {
  std::vector<T> elements(count);
  source.fill(first, std::span(elements));
  return elements;
}

template <class T>
class SourceOf : public ::testing::Test {};
using Types = ::testing::Types<std::uint8_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(SourceOf, Types);

TYPED_TEST(SourceOf, AnElementIsTheSameWhereverOneBegins) {
  const Source source(1, "x", 3);
  const auto all = made<TypeParam>(source, 0, 100);
  for (std::size_t first = 0; first < 40; ++first) {
    const auto some = made<TypeParam>(source, first, 50);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + static_cast<std::ptrdiff_t>(first)))
        << first;
  }
}

TYPED_TEST(SourceOf, SeedDatasetAndTimestepAllMatter) {
  const auto one = made<TypeParam>(Source(1, "x", 3), 0, 64);
  EXPECT_NE(one, made<TypeParam>(Source(2, "x", 3), 0, 64));
  EXPECT_NE(one, made<TypeParam>(Source(1, "y", 3), 0, 64));
  EXPECT_NE(one, made<TypeParam>(Source(1, "x", 4), 0, 64));
}

TYPED_TEST(SourceOf, NothingIsZero) {
  for (const auto element : made<TypeParam>(Source(1, "x", 0), 0, 10'000)) ASSERT_NE(element, 0);
}

TEST(Source, WordsAreNumbersBetweenOneAndTwo) {
  for (const auto word : made<std::uint32_t>(Source(1, "x", 0), 0, 1000)) {
    ASSERT_GE(std::bit_cast<float>(word), 1);
    ASSERT_LT(std::bit_cast<float>(word), 2);
  }
  for (const auto word : made<std::uint64_t>(Source(1, "x", 0), 0, 1000)) {
    ASSERT_GE(std::bit_cast<double>(word), 1);
    ASSERT_LT(std::bit_cast<double>(word), 2);
  }
}

}  // namespace
}  // namespace forebay::kernels
