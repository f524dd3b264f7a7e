#include "door/hdf5/superblock.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace forebay::hdf5 {
namespace {

// Signature, version, size of addresses, size of lengths, flags, four addresses, checksum.
constexpr std::string_view kSignature = "\211HDF\r\n\032\n";
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kAddressSize = 9;
constexpr std::size_t kFlags = 11;
constexpr std::size_t kAddresses = 12;
constexpr std::byte kOpenForWriting{5};  // H5F_SUPER_WRITE_ACCESS, H5F_SUPER_SWMR_WRITE_ACCESS

std::uint32_t word(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

std::uint32_t metadata_checksum(std::span<const std::byte> bytes) {
  auto a = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  auto b = a;
  auto c = a;
  const auto step = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int turn) {
    x -= z;
    x ^= std::rotl(z, turn);
    z += y;
  };
  while (bytes.size() > 12) {
    a += word(bytes.first(4));
    b += word(bytes.subspan(4, 4));
    c += word(bytes.subspan(8, 4));
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
    bytes = bytes.subspan(12);
  }
  if (bytes.empty()) return c;
  const auto part = [&](std::size_t from) {
    return from >= bytes.size() ? 0
                                : word(bytes.subspan(from, std::min<std::size_t>(4, bytes.size() - from)));
  };
  a += part(0);
  b += part(4);
  c += part(8);
  const auto last = [](std::uint32_t& x, std::uint32_t y, int turn) {
    x ^= y;
    x -= std::rotl(y, turn);
  };
  last(c, b, 14);
  last(a, c, 11);
  last(b, a, 25);
  last(c, b, 16);
  last(a, c, 4);
  last(b, a, 14);
  last(c, b, 24);
  return c;
}

std::vector<std::byte> superblock_when_closed(std::span<const std::byte> bytes) {
  if (bytes.size() < kAddresses || std::memcmp(bytes.data(), kSignature.data(), kSignature.size()) != 0)
    return {};
  const auto sum_at = kAddresses + 4 * std::to_integer<std::size_t>(bytes[kAddressSize]);
  if (bytes[kVersionAt] != std::byte{3} || (bytes[kFlags] & kOpenForWriting) == std::byte{0} ||
      bytes.size() < sum_at + 4) {
    return {};
  }
  std::vector<std::byte> closed(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(sum_at + 4));
  if (metadata_checksum(std::span(closed).first(sum_at)) != word(std::span(closed).subspan(sum_at)))
    return {};
  closed[kFlags] &= ~kOpenForWriting;
  const auto sum = metadata_checksum(std::span(closed).first(sum_at));
  for (std::size_t i = 0; i < 4; ++i) closed[sum_at + i] = static_cast<std::byte>(sum >> (8 * i));
  return closed;
}

}  // namespace forebay::hdf5
