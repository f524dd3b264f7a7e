// Writes of many pieces.
#include <gtest/gtest.h>

#include <random>

#include "engine/gathered_writes.hpp"
#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kBytes = 600'000;  // several times what the tiers hold

// Random ones, one upon the other, of `data`, and what a file of them is.
std::vector<Piece> random_pieces(const std::string& data, std::string& whole) {
  std::mt19937 chance(11);
  std::vector<Piece> pieces;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t length = chance() % (i % 50 == 0 ? 9000 : 300);
    const std::uint64_t from = chance() % (data.size() - length);
    const std::uint64_t to = chance() % (kBytes - length);
    pieces.push_back({to, bytes_of(data).subspan(from, length)});
    if (length == 0) continue;
    if (whole.size() < to + length) whole.resize(to + length, '\0');
    whole.replace(to, length, data, from, length);
  }
  return pieces;
}

std::string letters() {
  std::string data;
  for (int i = 0; i < 20000; ++i) data += static_cast<char>('a' + i * 7 % 26);
  return data;
}

void written_in_their_order(const std::string& settings) {
  TestBuffer buffer(settings);
  const auto file = buffer.open(buffer.home("pieces"), O_RDWR | O_CREAT);
  const auto data = letters();
  std::string whole;
  const auto pieces = random_pieces(data, whole);
  GatheredWrites writes(*file);
  for (const auto& [offset, bytes] : pieces) ASSERT_TRUE(writes.add(offset, bytes));
  ASSERT_TRUE(writes.finish());
  EXPECT_TRUE(TestBuffer::read_all(*file) == whole);
  ASSERT_TRUE(file->close());
  EXPECT_TRUE(TestBuffer::slurp(buffer.home("pieces")) == whole);
}

TEST(Pieces, AreWrittenInTheirOrder) { written_in_their_order(""); }
TEST(Pieces, AreWrittenInTheirOrderStraightHome) { written_in_their_order("admission.write=never"); }

TEST(Pieces, AreHomeIfThatIsAsked) {
  TestBuffer buffer("durability=home");
  const auto file = buffer.open(buffer.home("pieces"), O_RDWR | O_CREAT);
  const std::vector<Piece> pieces{{5, bytes_of("bbb")}, {9000, bytes_of("ccc")}, {0, bytes_of("aaaaa")}};
  EXPECT_EQ(file->write(pieces).value_or(0), 11u);
  std::string whole(9003, '\0');
  whole.replace(0, 8, "aaaaabbb");
  whole.replace(9000, 3, "ccc");
  EXPECT_TRUE(TestBuffer::slurp(buffer.home("pieces")) == whole);
}

TEST(Pieces, AreRefusedTogether) {
  TestBuffer buffer;
  const auto file = buffer.open(buffer.home("pieces"), O_RDWR | O_CREAT);
  const std::vector<Piece> pieces{{0, bytes_of("a")}, {~std::uint64_t{0} - 5, bytes_of("b")}};
  const auto refused = file->write(pieces);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EFBIG);
  EXPECT_EQ(file->size().value_or(1), 0u);
  EXPECT_EQ(file->write(std::span<const Piece>{}).value_or(1), 0u);
}

}  // namespace
}  // namespace forebay
