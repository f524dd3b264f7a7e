#include "door/native/boundary.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <string>

namespace forebay::native {
namespace {

TEST(Boundary, SuccessIsZeroOrTheCount) {
  EXPECT_EQ(cross([]() -> Status { return {}; }), 0);
  EXPECT_EQ(cross([]() -> Result<int> { return 1; }), 1);
  EXPECT_EQ(cross([]() -> Result<std::uint64_t> { return 1ULL << 40; }), std::int64_t{1} << 40);
}

TEST(Boundary, FailureIsTheNegativeErrnoWithItsWords) {
  EXPECT_EQ(cross([]() -> Status { return fail(ENOSPC, "tier memory is full"); }), -ENOSPC);
  EXPECT_STREQ(last_error(), "tier memory is full");
  EXPECT_EQ(cross([]() -> Result<std::uint64_t> { return fail(EIO, "home is gone"); }), -EIO);
  EXPECT_STREQ(last_error(), "home is gone");
}

TEST(Boundary, ExceptionsBecomeErrors) {
  EXPECT_EQ(cross([]() -> Status { throw std::bad_alloc(); }), -ENOMEM);
  EXPECT_EQ(cross([]() -> Status {
              throw std::system_error(EAGAIN, std::generic_category(), "cannot start a thread");
            }),
            -EAGAIN);
  EXPECT_NE(std::string(last_error()).find("cannot start a thread"), std::string::npos);
  EXPECT_EQ(cross([]() -> Status { throw std::runtime_error("oh"); }), -EIO);
  EXPECT_STREQ(last_error(), "oh");
  EXPECT_EQ(cross([]() -> Status { throw 3; }), -EIO);
}

TEST(Boundary, AnErrorNeverLooksLikeSuccess) {
  EXPECT_EQ(cross([]() -> Status { throw std::system_error(std::error_code(), "no code"); }), -EIO);
}

TEST(Boundary, ACancelledThreadUnwindsThroughIt) {
  pthread_t thread{};
  const auto body = [](void*) -> void* {
    (void)cross([]() -> Status {
      ::pause();
      return {};
    });
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, body, nullptr), 0);
  ASSERT_EQ(pthread_cancel(thread), 0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

}  // namespace
}  // namespace forebay::native
