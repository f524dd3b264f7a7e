#include "door/hdf5/held_writes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace forebay::hdf5 {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string seen(const HeldWrites& held, std::uint64_t offset, std::size_t size) {
  std::string out(size, '.');
  held.lay_over(offset, std::as_writable_bytes(std::span(out)));
  return out;
}

TEST(HeldWrites, NewestOfEachByte) {
  HeldWrites held;
  held.write(10, bytes_of("aaaaaa"));
  held.write(12, bytes_of("bb"));
  held.write(14, bytes_of("cccc"));
  held.write(8, bytes_of("ddd"));
  EXPECT_EQ(seen(held, 6, 14), "..dddabbcccc..");
  EXPECT_EQ(held.bytes(), 10u);
}

TEST(HeldWrites, ForgetsFromTheMiddleOn) {
  HeldWrites held;
  held.write(0, bytes_of("abcdef"));
  held.write(10, bytes_of("xyz"));
  held.forget(4, ~0ull);
  EXPECT_EQ(seen(held, 0, 14), "abcd..........");
  EXPECT_EQ(held.bytes(), 4u);
  held.forget(0, ~0ull);
  EXPECT_TRUE(held.empty());
}

TEST(HeldWrites, AsAPlainArrayWouldBe) {
  std::mt19937 random(7);
  HeldWrites held;
  std::string plain(300, '.');
  for (int i = 0; i < 20'000; ++i) {
    const auto at = random() % 290;
    if (random() % 40 == 0) {
      const auto end = at + random() % (300 - at);
      held.forget(at, end);
      plain.replace(at, end - at, end - at, '.');
    } else {
      const std::string data(1 + random() % std::min<std::size_t>(30, 300 - at),
                             static_cast<char>('a' + i % 26));
      held.write(at, bytes_of(data));
      plain.replace(at, data.size(), data);
    }
    const auto from = random() % 300;
    const auto size = random() % (300 - from + 1);
    ASSERT_EQ(seen(held, from, size), plain.substr(from, size)) << "step " << i;
    ASSERT_EQ(held.bytes(), 300u - static_cast<std::size_t>(std::ranges::count(plain, '.')));
  }
}

}  // namespace
}  // namespace forebay::hdf5
