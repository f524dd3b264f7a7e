// Writes that wait: bytes by offset, the newest of each.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace forebay::hdf5 {

class HeldWrites {
 public:
  // Pieces do not overlap.
  using Pieces = std::map<std::uint64_t, std::vector<std::byte>>;

  void write(std::uint64_t offset, std::span<const std::byte> data);
  // Puts what is held of [offset, offset + out.size()) into `out` and leaves the rest of it alone.
  void lay_over(std::uint64_t offset, std::span<std::byte> out) const;
  // Nothing is held of [begin, end) afterwards.
  void forget(std::uint64_t begin, std::uint64_t end);
  void clear();

  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  // How many bytes are held.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const Pieces& pieces() const { return pieces_; }

 private:
  Pieces pieces_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace forebay::hdf5
