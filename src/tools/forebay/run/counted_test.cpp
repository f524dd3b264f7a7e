#include "tools/forebay/run/counted.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(Counted, ItsTextSaysAllOfIt) {
  Counted counted;
  counted.counters->staged_bytes = 5;
  counted.counters->close_wait_ns = 7;
  counted.passed = {{"mmap of a buffered file", 3}, {"O_DIRECT", 1}};
  const auto same = Counted::parse(counted.text());
  EXPECT_EQ(same.counters->staged_bytes.load(), 5U);
  EXPECT_EQ(same.counters->close_wait_ns.load(), 7U);
  EXPECT_EQ(same.counters->writes.load(), 0U);
  ASSERT_EQ(same.passed.size(), 2U);
  EXPECT_EQ(same.passed.front().why, "mmap of a buffered file");
  EXPECT_EQ(same.passed.front().times, 3U);
}

TEST(Counted, OfNothingIsNothing) {
  EXPECT_EQ(Counted{}.text(), "");
  for (const char* text : {"", "\n", "staged_bytes", "passed", "passed 1", "nonsense 5", "staged_bytes x"})
    EXPECT_EQ(Counted::parse(text).text(), "") << text;
}

TEST(PassedSince, IsWhatWasAdded) {
  const auto since = passed_since({{"a", 5}, {"b", 2}, {"gone", 1}}, {{"a", 6}, {"b", 2}, {"c", 4}});
  ASSERT_EQ(since.size(), 2U);
  EXPECT_EQ(since[0].why + since[1].why, "ca");
  EXPECT_EQ(since[0].times, 4U);
  EXPECT_EQ(since[1].times, 1U);
}

}  // namespace
}  // namespace forebay
