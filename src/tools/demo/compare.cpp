#include "tools/demo/compare.hpp"

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/format.hpp"

namespace forebay::demo {
namespace {

constexpr std::size_t kPiece = 1U << 20;

std::size_t read_piece(std::ifstream& in, std::vector<char>& piece) {
  in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  return static_cast<std::size_t>(in.gcount());
}

}  // namespace

std::string difference(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::ifstream a(one, std::ios::binary);
  std::ifstream b(other, std::ios::binary);
  if (!a) return one.string() + " cannot be read";
  if (!b) return other.string() + " cannot be read";
  std::vector<char> in_a(kPiece);
  std::vector<char> in_b(kPiece);
  for (std::size_t at = 0;;) {
    const auto size_a = read_piece(a, in_a);
    const auto size_b = read_piece(b, in_b);
    const auto common = std::min(size_a, size_b);
    const auto first =
        std::mismatch(in_a.begin(), in_a.begin() + static_cast<std::ptrdiff_t>(common), in_b.begin()).first;
    const auto same = static_cast<std::size_t>(first - in_a.begin());
    if (same < common)
      return format_text("{} and {} differ at byte {}", one.string(), other.string(), at + same);
    at += common;
    if (size_a != size_b)
      return format_text("{} and {} differ in size after byte {}", one.string(), other.string(), at);
    if (common == 0) return "";
  }
}

}  // namespace forebay::demo
