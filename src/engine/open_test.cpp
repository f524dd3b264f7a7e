// What opening a file asks of home.
#include <gtest/gtest.h>

#include <cerrno>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

TEST(Open, OfANewFileWithOTruncDoesNotTruncateHome) {
  TestBuffer test;
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT | O_TRUNC);
  EXPECT_EQ(test->core().control.file(file->number()).truncations.load(), 0u);
}

TEST(Open, WithOTruncCutsWhatIsStagedOnly) {
  TestBuffer test("drain.trigger=never");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_EQ(file->write(0, bytes_of("staged")), 6u);
  auto again = test.open(test.home("a"), O_RDWR | O_TRUNC);
  EXPECT_EQ(file->size(), 0u);
  ASSERT_TRUE(file->close());
  ASSERT_TRUE(again->close());
  EXPECT_EQ(test.slurp(test.home("a")), "");
}

TEST(Open, WithOTruncCutsWhatIsAtHomeOnly) {
  TestBuffer test;
  std::ofstream(test.home("a")) << "at home";
  auto file = test.open(test.home("a"), O_RDWR | O_TRUNC);
  EXPECT_EQ(file->size(), 0u);
  EXPECT_EQ(test.slurp(test.home("a")), "");
}

// Or what is written there next would first be brought up from the tier it lies in.
TEST(Truncate, LeavesNoBucketOfWhatItCutsOff) {
  TestBuffer test;
  test->pause_drain(true);
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  ASSERT_TRUE(file->write(0, bytes_of(std::string(100'000, 'x'))));
  ASSERT_TRUE(test.eventually([&] { return test->core().counters().demotions.load() != 0; }));
  const auto& buckets = test->core().control.file(file->number()).buckets;
  ASSERT_TRUE(file->truncate(5000));
  EXPECT_EQ(buckets.load(), 2u);
  ASSERT_TRUE(file->truncate(0));
  EXPECT_EQ(buckets.load(), 0u);
  ASSERT_TRUE(file->write(0, bytes_of(std::string(100'000, 'y'))));
  EXPECT_EQ(test->core().counters().promotions.load(), 0u);
  ASSERT_TRUE(file->close());
  EXPECT_EQ(test.slurp(test.home("a")), std::string(100'000, 'y'));
}

TEST(Open, OfADirectoryIsRefused) {
  TestBuffer test;
  const auto opened = test->open(test.home(""), O_RDONLY);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, EINVAL);
}

}  // namespace
}  // namespace forebay
