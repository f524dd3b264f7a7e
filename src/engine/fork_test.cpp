// A forked child has the parent's objects but is not attached: everything but leaving them alone is refused.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

TEST(Fork, TheChildIsRefusedEverywhereAndTheParentGoesOn) {
  TestBuffer test("drain.trigger=never");
  auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
  std::ofstream(test.home("b")) << "b";
  auto read_only = test.open(test.home("b"), O_RDONLY);
  ASSERT_EQ(file->write(0, bytes_of("mine")), 4u);
  const auto child = ::fork();
  if (child == 0) {
    std::byte byte{};
    const auto refused = [](const auto& result) { return !result && result.error().code == ENOTCONN; };
    int wrong = 0;
    wrong |= refused(file->write(0, {&byte, 1})) ? 0 : 1;
    wrong |= refused(file->read(0, {&byte, 1})) ? 0 : 2;
    wrong |= refused(file->append({&byte, 1})) && refused(file->size()) && refused(file->truncate(0)) ? 0 : 4;
    wrong |= refused(file->drain()) && refused(file->sync()) ? 0 : 8;
    wrong |= refused(read_only->sync()) ? 0 : 16;
    wrong |= refused(file->hint(Hint::kExclusive, 0, 0)) && refused(file->evict(0, 10)) ? 0 : 32;
    wrong |= refused(test->drain(std::chrono::seconds(1))) && refused(test->open(test.home("c"), O_RDONLY))
                 ? 0
                 : 64;
    ::_exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "a bit for each that was not refused";
  ASSERT_TRUE(file->close());
  EXPECT_EQ(test.slurp(test.home("a")), "mine");
}

}  // namespace
}  // namespace forebay
