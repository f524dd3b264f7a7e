#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>

namespace forebay {
namespace {

TEST(Bytes, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_bytes("0").value(), 0U);
  EXPECT_EQ(parse_bytes("4096").value(), 4096U);
  EXPECT_EQ(parse_bytes("256KiB").value(), 256 * kKiB);
  EXPECT_EQ(parse_bytes("256 kib").value(), 256 * kKiB);
  EXPECT_EQ(parse_bytes("4G").value(), 4 * kGiB);
  EXPECT_EQ(parse_bytes("1.5GB").value(), 1'500'000'000U);
  EXPECT_EQ(parse_bytes("0.29KB").value(), 290U);
  EXPECT_EQ(parse_bytes(" 7 B ").value(), 7U);
  EXPECT_EQ(parse_bytes("18446744073709551615").value(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Bytes, RefusesTheRest) {
  for (const char* text :
       {"", "MiB", "-1", "+1", "1.", ".5G", "1e3", "4GX", "4 G i B", "0x10", "1,5G", "nan"}) {
    const auto bytes = parse_bytes(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code, EINVAL);
  }
  EXPECT_EQ(parse_bytes("big").error().message, "\"big\" is not a size such as 4096, 256KiB or 1.5GB");
}

TEST(Bytes, RefusesMoreThan64Bits) {
  for (const char* text :
       {"18446744073709551616", "16384P", "99999999999999999999999", "18446744073709551615.9"}) {
    const auto bytes = parse_bytes(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code, ERANGE);
  }
}

TEST(Bytes, AmountsMayBeSharesOrAutomatic) {
  EXPECT_EQ(parse_amount("25%").value(), Amount::of_percent(25));
  EXPECT_EQ(parse_amount("12.5 %").value(), Amount::of_percent(12.5));
  EXPECT_EQ(parse_amount("auto").value(), Amount{});
  EXPECT_EQ(parse_amount("1K").value(), Amount::of_bytes(1024));
  for (const char* text : {"0%", "101%", "%", "-5%", "nan%", "inf%", "1e1%", "5%%"})
    EXPECT_FALSE(parse_amount(text));
}

TEST(Bytes, ExactFormReadsBack) {
  for (const std::uint64_t bytes :
       {0UL, 1UL, 1000UL, 1024UL, 1536UL, 256 * kKiB, 3 * kGiB, 1UL << 63U, ~0UL}) {
    EXPECT_EQ(parse_bytes(format_bytes_exact(bytes)).value(), bytes);
  }
  EXPECT_EQ(format_bytes_exact(256 * kKiB), "256KiB");
  EXPECT_EQ(format_amount(Amount::of_percent(12.5)), "12.5%");
  EXPECT_EQ(format_amount({}), "auto");
}

TEST(Bytes, HumanForm) {
  EXPECT_EQ(format_bytes(0), "0B");
  EXPECT_EQ(format_bytes(1023), "1023B");
  EXPECT_EQ(format_bytes(1536), "1.5KiB");
  EXPECT_EQ(format_bytes(300 * kMiB), "300MiB");
  EXPECT_EQ(format_bytes(1024 * kMiB - 1), "1023MiB");
}

}  // namespace
}  // namespace forebay
