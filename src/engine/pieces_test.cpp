// Writes and reads of many pieces.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "engine/gathered_reads.hpp"
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
  const std::string a = "aaaaa";
  const std::string b = "bbb";
  const std::string c = "ccc";
  const std::vector<Piece> pieces{{5, bytes_of(b)}, {9000, bytes_of(c)}, {0, bytes_of(a)}};
  EXPECT_EQ(file->write(pieces).value_or(0), 11u);
  std::string whole(9003, '\0');
  whole.replace(0, 8, "aaaaabbb");
  whole.replace(9000, 3, "ccc");
  EXPECT_TRUE(TestBuffer::slurp(buffer.home("pieces")) == whole);
}

TEST(Pieces, AreRefusedTogether) {
  TestBuffer buffer;
  const auto file = buffer.open(buffer.home("pieces"), O_RDWR | O_CREAT);
  const std::string text = "a";
  const std::vector<Piece> pieces{{0, bytes_of(text)}, {~std::uint64_t{0} - 5, bytes_of(text)}};
  const auto refused = file->write(pieces);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EFBIG);
  EXPECT_EQ(file->size().value_or(1), 0u);
  EXPECT_EQ(file->write(std::span<const Piece>{}).value_or(1), 0u);
}

// Some of them staged, some kept, some at home only; in any order, one upon the other, and beyond the end.
TEST(Pieces, AreReadInTheirOrder) {
  TestBuffer buffer("");
  const auto data = letters();
  std::string whole;
  const auto pieces = random_pieces(data, whole);
  std::ofstream(buffer.home("pieces")) << whole;
  const auto file = buffer.open(buffer.home("pieces"), O_RDWR);
  std::mt19937 chance(3);
  for (int turn = 0; turn < 40; ++turn) {
    for (int i = 0; i < 20; ++i) {
      const auto& [offset, bytes] = pieces[chance() % pieces.size()];
      ASSERT_TRUE(file->write(offset, bytes));
      whole.replace(offset, bytes.size(), std::string(bytes.size(), '\0'));
      std::memcpy(whole.data() + offset, bytes.data(), bytes.size());
    }
    if (turn % 3 == 0) {
      ASSERT_TRUE(file->drain());
    }
    if (turn % 5 == 0) {
      ASSERT_TRUE(file->forget());
    }
    GatheredReads reads(*file);
    std::string got(400 * 100, '?');
    std::string wanted;
    std::uint64_t at = chance() % whole.size();
    for (int i = 0; i < 400; ++i) {
      const std::uint64_t length = 1 + chance() % 100;
      at = chance() % 10 == 0 ? chance() % whole.size() : at + chance() % 3000;
      at = std::min(at, whole.size() - length);
      ASSERT_TRUE(reads.add(at, writable_bytes_of(got).subspan(wanted.size(), length)).value_or(false));
      wanted += whole.substr(at, length);
    }
    ASSERT_TRUE(reads.finish().value_or(false));
    EXPECT_EQ(reads.came(), wanted.size());
    EXPECT_TRUE(got.substr(0, wanted.size()) == wanted) << "turn " << turn;
  }
}

TEST(Pieces, NothingIsReadBehindTheEnd) {
  TestBuffer buffer("");
  std::ofstream(buffer.home("pieces")) << std::string(1000, 'x');
  const auto file = buffer.open(buffer.home("pieces"), O_RDONLY);
  std::string got(300, '?');
  GatheredReads reads(*file);
  for (const std::uint64_t at : {100, 950, 0})
    ASSERT_TRUE(reads.add(at, writable_bytes_of(got).subspan(at == 100 ? 0 : at == 950 ? 100 : 200, 100)));
  EXPECT_FALSE(reads.finish().value_or(true));
  EXPECT_EQ(reads.came(), 150u);
  EXPECT_EQ(got, std::string(150, 'x') + std::string(150, '?'));
}

}  // namespace
}  // namespace forebay
