#include "tools/slowfs/settings.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace forebay::slowfs {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Settings::Clock::time_point kNow{seconds(100)};

TEST(SlowfsSettings, SizesKnowDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_size("4096").value(), 4096U);
  EXPECT_EQ(parse_size("200MB").value(), 200'000'000U);
  EXPECT_EQ(parse_size("1MiB").value(), 1U << 20);
  EXPECT_EQ(parse_size("1.5K").value(), 1536U);
  for (const char* bad : {"", "MB", "-1", "5 MB", "5mb", "1e30GB", "nan"})
    EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST(SlowfsSettings, DurationsDefaultToMilliseconds) {
  EXPECT_EQ(parse_duration("5").value(), milliseconds(5));
  EXPECT_EQ(parse_duration("250us").value(), microseconds(250));
  EXPECT_EQ(parse_duration("1.5s").value(), milliseconds(1500));
  for (const char* bad : {"", "ms", "-1ms", "5m", "100000s"}) EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(SlowfsSettings, TextReadsBackAsItself) {
  Settings settings;
  const std::pair<const char*, const char*> changes[] = {
      {"read_bandwidth", "1GB"}, {"write_bandwidth", "200MB"},   {"latency", "2ms"},
      {"capacity", "1GiB"},      {"read_only", "yes"},           {"sync_source", "yes"},
      {"hang", "writes"},        {"fail_nth_write", "3,EDQUOT"}, {"fail_write", "EIO"},
      {"fail_read", "ESTALE"},   {"fail_fsync", "ENOSPC"},       {"fail_open", "EACCES"},
      {"fail_close", "EIO"}};
  for (const auto& [key, value] : changes) ASSERT_TRUE(apply(settings, key, value, kNow)) << key;
  EXPECT_EQ(std::size(changes), settings_help().size());

  Settings again;
  std::string_view text;
  const std::string whole = to_text(settings);
  for (text = whole; !text.empty(); text.remove_prefix(text.find('\n') + 1)) {
    const auto line = text.substr(0, text.find('\n'));
    ASSERT_TRUE(apply(again, line.substr(0, line.find('=')), line.substr(line.find('=') + 1), kNow)) << line;
  }
  EXPECT_EQ(to_text(again), whole);
  EXPECT_NE(to_text(Settings{}), whole);
}

TEST(SlowfsSettings, AHangMayEndByItself) {
  Settings settings;
  ASSERT_TRUE(apply(settings, "hang", "all", kNow));
  EXPECT_EQ(settings.hang_until, Settings::Clock::time_point::max());
  ASSERT_TRUE(apply(settings, "hang", "writes,2s", kNow));
  EXPECT_EQ(settings.hang, HangScope::Writes);
  EXPECT_EQ(settings.hang_until, kNow + seconds(2));
}

TEST(SlowfsSettings, ARefusalNamesTheKeyAndWhatIsAllowed) {
  Settings settings;
  const Status status = apply(settings, "hang", "maybe", kNow);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "hang: 'maybe' is none of none, writes, all");
  EXPECT_FALSE(apply(settings, "fail_nth_write", "0,EIO", kNow));
  EXPECT_FALSE(apply(settings, "fail_nth_write", "2", kNow));
  EXPECT_FALSE(apply(settings, "bandwith", "1", kNow));
  EXPECT_EQ(to_text(settings), to_text(Settings{}));
}

}  // namespace
}  // namespace forebay::slowfs
