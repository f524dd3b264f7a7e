// What is pinned stays.
#include <gtest/gtest.h>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

TEST(Pin, AskingToEvictAPinnedRangeLeavesIt) {
  TestBuffer test("readahead.max=0");
  const auto path = test.home("a");
  std::ofstream(path) << std::string(8192, 'x');
  auto file = test.open(path, O_RDONLY);
  ASSERT_TRUE(file->pin(0, 4096));
  ASSERT_TRUE(file->evict(0, 8192));
  const auto before = test->core().counters().home_reads.load();
  std::string text(4096, '?');
  ASSERT_EQ(file->read(0, writable_bytes_of(text)), 4096u);
  EXPECT_EQ(text, std::string(4096, 'x'));
  EXPECT_EQ(test->core().counters().home_reads.load(), before);
}

}  // namespace
}  // namespace forebay
