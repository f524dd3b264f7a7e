#include "door/native/last_error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace forebay::native {
namespace {

TEST(LastError, BelongsToTheThread) {
  set_last_error("mine");
  std::thread([] {
    EXPECT_STREQ(last_error(), "");
    set_last_error("theirs");
    EXPECT_STREQ(last_error(), "theirs");
  }).join();
  EXPECT_STREQ(last_error(), "mine");
}

TEST(LastError, CutsWhatIsTooLong) {
  set_last_error(std::string(5000, 'x'));
  const std::string kept = last_error();
  EXPECT_EQ(kept.size(), 1023u);
  EXPECT_TRUE(kept.ends_with("x ..."));
  set_last_error("short");
  EXPECT_STREQ(last_error(), "short");
}

}  // namespace
}  // namespace forebay::native
