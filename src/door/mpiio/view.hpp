// Which bytes of the file a process sees, and in which order: displacement, etype and filetype.
//
// A plain value; positions are bytes of the view's data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "door/mpiio/flat_type.hpp"

namespace forebay::mpiio {

class View {
 public:
  // All bytes of the file.
  View() = default;
  // `filetype` is monotonic.
  View(std::int64_t displacement, std::int64_t etype_size, FlatType filetype);

  [[nodiscard]] std::int64_t etype_size() const { return etype_size_; }
  [[nodiscard]] bool contiguous() const { return contiguous_; }
  // Of a contiguous one: where byte `position` of its data lies in the file.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t position) const { return displacement_ + position; }
  [[nodiscard]] bool bytes_only() const { return contiguous_ && etype_size_ == 1 && displacement_ == 0; }

  // Bytes of a piece, in the mean.
  [[nodiscard]] std::uint64_t mean_piece() const {
    if (contiguous_) return 1;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(filetype_.size) / filetype_.runs.size(), 1);
  }
  // Small pieces with gaps that as many others, each with as much, would not fill?
  [[nodiscard]] bool sparse(int ranks) const {
    constexpr std::int64_t kFar = 2048;  // from piece to piece, where requests of their own cost no more
    if (contiguous_) return false;
    return filetype_.size * ranks < filetype_.extent &&
           filetype_.extent < kFar * static_cast<std::int64_t>(filetype_.runs.size());
  }

  // Calls `visit(offset in the file, length)` for the pieces of [position, position + length), in order,
  // until one fails or says false.
  template <class Visit>
  Status for_each(std::uint64_t position, std::uint64_t length, Visit&& visit) const {
    if (contiguous_) {
      FOREBAY_TRY(visit(place_of(position), length));
      return {};
    }
    const auto size = static_cast<std::uint64_t>(filetype_.size);
    auto tile = position / size;
    auto at = position % size;
    auto run =
        static_cast<std::size_t>(std::upper_bound(before_.begin(), before_.end(), at) - before_.begin() - 1);
    at -= before_[run];
    while (length != 0) {
      const auto& piece = filetype_.runs[run];
      const auto step = std::min(length, static_cast<std::uint64_t>(piece.length) - at);
      const auto base = displacement_ + tile * static_cast<std::uint64_t>(filetype_.extent);
      FOREBAY_ASSIGN(const bool go_on, visit(base + static_cast<std::uint64_t>(piece.offset) + at, step));
      if (!go_on) return {};
      length -= step;
      at = 0;
      if (++run == filetype_.runs.size()) {
        run = 0;
        ++tile;
      }
    }
    return {};
  }

 private:
  std::uint64_t displacement_ = 0;
  std::int64_t etype_size_ = 1;
  bool contiguous_ = true;
  FlatType filetype_{};
  std::vector<std::uint64_t> before_{};  // bytes of data in a tile before each run
};

}  // namespace forebay::mpiio
