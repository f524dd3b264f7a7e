#include <cerrno>
#include <cstring>

#include "door/native/test_place.hpp"

namespace forebay::native {
namespace {

forebay_statistics statistics_of(forebay_buffer* buffer, forebay_scope scope) {
  forebay_statistics statistics{};
  statistics.size = sizeof statistics;
  EXPECT_EQ(forebay_get_statistics(buffer, scope, &statistics), 0) << forebay_error_message();
  return statistics;
}

TEST(NativeStatistics, CountsWhatWasDone) {
  const TestPlace place;
  auto* buffer = place.attach({"drain.trigger=never"});
  auto* file = open_file(buffer, place.home("a"));
  EXPECT_EQ(write_text(file, "hello", 0), 5);
  EXPECT_EQ(forebay_append(file, "you", 3), 5);
  EXPECT_EQ(read_text(file, 100, 0), "helloyou");
  EXPECT_EQ(forebay_close(file), 0);
  const auto now = statistics_of(buffer, FOREBAY_SCOPE_PROCESS);
  EXPECT_EQ(now.writes, 2u);
  EXPECT_EQ(now.written_bytes, 8u);
  EXPECT_EQ(now.staged_bytes, 8u);
  EXPECT_EQ(now.straight_home_bytes, 0u);
  EXPECT_EQ(now.reads, 1u);
  EXPECT_EQ(now.read_bytes, 8u);
  EXPECT_EQ(now.hit_bytes, 8u);
  EXPECT_EQ(now.home_writes, 1u);
  EXPECT_EQ(now.home_written_bytes, 8u);
  EXPECT_EQ(forebay_detach(buffer), 0);
}

TEST(NativeStatistics, TheNodeIsEverybodyAndThoseWhoLeft) {
  const TestPlace place;
  auto* one = place.attach();
  auto* two = place.attach();
  auto* a = open_file(one, place.home("a"));
  auto* b = open_file(two, place.home("b"));
  EXPECT_EQ(write_text(a, "12345", 0), 5);
  EXPECT_EQ(write_text(b, "1234567", 0), 7);
  EXPECT_EQ(statistics_of(one, FOREBAY_SCOPE_PROCESS).written_bytes, 5u);
  EXPECT_EQ(statistics_of(one, FOREBAY_SCOPE_NODE).written_bytes, 12u);
  EXPECT_EQ(forebay_detach(two), 0);
  EXPECT_EQ(statistics_of(one, FOREBAY_SCOPE_NODE).written_bytes, 12u);
  EXPECT_EQ(statistics_of(one, FOREBAY_SCOPE_NODE).home_written_bytes, 7u);
  EXPECT_EQ(forebay_close(b), -ENOTCONN);
  EXPECT_EQ(forebay_close(a), 0);
  EXPECT_EQ(forebay_detach(one), 0);
}

TEST(NativeStatistics, CallersOfOtherVersionsGetWhatTheyKnow) {
  const TestPlace place;
  auto* buffer = place.attach();
  auto* file = open_file(buffer, place.home("a"));
  EXPECT_EQ(write_text(file, "hello", 0), 5);

  // Older: it ends after written_bytes, and what lies behind is not touched.
  forebay_statistics older{};
  std::memset(&older, 0x5a, sizeof older);
  older.size = offsetof(forebay_statistics, staged_bytes);
  ASSERT_EQ(forebay_get_statistics(buffer, FOREBAY_SCOPE_PROCESS, &older), 0);
  EXPECT_EQ(older.written_bytes, 5u);
  EXPECT_EQ(older.staged_bytes, 0x5a5a5a5a5a5a5a5au);
  EXPECT_EQ(older.size, offsetof(forebay_statistics, staged_bytes));

  struct Newer {
    forebay_statistics known;
    uint64_t unknown;
  } newer{};
  newer.known.size = sizeof newer;
  newer.unknown = 9;
  ASSERT_EQ(forebay_get_statistics(buffer, FOREBAY_SCOPE_PROCESS, &newer.known), 0);
  EXPECT_EQ(newer.known.written_bytes, 5u);
  EXPECT_EQ(newer.unknown, 0u);

  forebay_statistics unsized{};
  EXPECT_EQ(forebay_get_statistics(buffer, FOREBAY_SCOPE_PROCESS, &unsized), -EINVAL);
  newer.known.size = sizeof newer.known;
  EXPECT_EQ(forebay_get_statistics(buffer, 5, &newer.known), -EINVAL);
  EXPECT_EQ(forebay_close(file), 0);
  EXPECT_EQ(forebay_detach(buffer), 0);
}

}  // namespace
}  // namespace forebay::native
