#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace forebay {
namespace {

Status refuse() { return fail(EINVAL, "bucket size 3 is not a power of two"); }

Result<std::unique_ptr<int>> make(int value) {
  if (value < 0) return fail(ERANGE, "negative");
  return std::make_unique<int>(value);
}

Result<int> twice(int value) {
  FOREBAY_ASSIGN(auto first, make(value));
  FOREBAY_ASSIGN(auto second, make(*first));
  return *first + *second;
}

Status try_both(bool second_fails, int& steps) {
  FOREBAY_TRY(Status{});
  ++steps;
  if (second_fails) FOREBAY_TRY(refuse());
  ++steps;
  return {};
}

TEST(Error, CarriesCodeAndWords) {
  const Status status = refuse();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, EINVAL);
  EXPECT_EQ(status.error().message, "bucket size 3 is not a power of two");
}

TEST(Error, ErrnoNamesActionAndObject) {
  const Status status = fail_errno(ENOSPC, "open", "/scratch/a");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ENOSPC);
  EXPECT_EQ(status.error().message, "cannot open /scratch/a: No space left on device");
}

TEST(Error, TryLeavesAtTheFirstFailure) {
  int steps = 0;
  EXPECT_TRUE(try_both(false, steps));
  EXPECT_EQ(steps, 2);
  steps = 0;
  EXPECT_FALSE(try_both(true, steps));
  EXPECT_EQ(steps, 1);
}

TEST(Error, AssignMovesTheValueOrLeaves) {
  EXPECT_EQ(twice(21).value(), 42);
  const Result<int> failed = twice(-1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ERANGE);
}

}  // namespace
}  // namespace forebay
