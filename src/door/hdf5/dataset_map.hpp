// Where the elements of one open dataset lie in its file, or why that cannot be told.
//
// A map is true until the dataset's storage changes (set_extent, unlinking): whoever holds it makes it anew
// then, or lets it grow. It holds no reference to the dataset. Constant meanwhile, so that any thread may
// read it.
#pragma once

#include <H5Ipublic.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "door/hdf5/hid.hpp"
#include "door/hdf5/reason.hpp"

namespace forebay::hdf5 {

// Elements that were never written: no bytes in the file, the fill value for readers.
inline constexpr std::uint64_t kHole = ~std::uint64_t{0};

class DatasetMap {
 public:
  // `dataset` is an object of connector `connector`, at the bottom of which must be the native one. A dataset
  // with missing chunks is told only to readers. Reads metadata: where HDF5 reads metadata collectively, this
  // is collective.
  static std::expected<DatasetMap, Reason> make(void* dataset, hid_t connector, bool writable);

  // The dataset was extended, and nothing was cut off it since the map was made. What is known of it stays;
  // HDF5 is asked for its chunks. On failure the map is of no more use.
  std::expected<void, Reason> grow(void* dataset, hid_t connector, bool writable);

  [[nodiscard]] hid_t type() const { return type_.get(); }
  [[nodiscard]] std::size_t element_size() const { return element_size_; }
  [[nodiscard]] std::uint64_t elements() const { return elements_; }
  [[nodiscard]] std::span<const hsize_t> dims() const { return {dims_.data(), rank_}; }
  [[nodiscard]] std::span<const std::byte> fill() const { return fill_; }
  // Where the first element lies: no two datasets of a file have the same.
  [[nodiscard]] std::uint64_t start() const { return chunked() ? chunks_.front() : address_; }
  [[nodiscard]] bool chunked() const { return !chunks_.empty(); }

  // Calls take(file offset or kHole, bytes) for the elements [first, first + count), counted in row-major
  // order, piece by piece in that order.
  template <class Take>
  void locate(std::uint64_t first, std::uint64_t count, Take&& take) const;

 private:
  struct Dimension {
    std::uint64_t size;            // elements of the dataset
    std::uint64_t chunk;           // elements of a chunk
    std::uint64_t chunks_below;    // how many chunks one step in this dimension's row of chunks skips
    std::uint64_t elements_below;  // how many elements of a chunk one step in this dimension skips
  };

  DatasetMap() = default;
  std::expected<void, Reason> describe(void* dataset, hid_t connector, bool writable);
  std::expected<void, Reason> find_contiguous(void* dataset, hid_t connector);
  std::expected<void, Reason> find_extent(void* dataset, hid_t connector);
  std::expected<void, Reason> find_chunks(void* dataset, hid_t connector, hid_t creation, bool writable);
  std::expected<void, Reason> locate_chunks(void* dataset, hid_t connector);
  std::expected<void, Reason> find_fill(hid_t creation);
  // How many chunks are along the dimensions after each, and in all; nothing if they are too many.
  [[nodiscard]] std::optional<std::uint64_t> count_chunks(std::array<std::uint64_t, 32>& below) const;
  void lay_grid(const std::array<std::uint64_t, 32>& below);

  Hid type_;
  std::size_t element_size_ = 0;
  std::uint64_t elements_ = 0;
  std::array<hsize_t, 32> dims_{};
  unsigned rank_ = 0;
  std::uint64_t address_ = 0;          // contiguous
  std::array<hsize_t, 32> chunk_{};    // chunked: dimensions of a chunk
  std::vector<Dimension> grid_;        // chunked: dimensions that are contiguous in every chunk are one
  std::vector<std::uint64_t> chunks_;  // addresses in row-major order of the chunks, or kHole
  std::vector<std::byte> fill_;        // one element, if there are holes
};

template <class Take>
void DatasetMap::locate(std::uint64_t first, std::uint64_t count, Take&& take) const {
  if (!chunked()) {
    if (count != 0) take(address_ + first * element_size_, count * element_size_);
    return;
  }
  std::array<std::uint64_t, 32> at;
  const auto last = grid_.size() - 1;
  auto rest = first;
  for (auto d = grid_.size(); d-- > 0;) {
    at[d] = rest % grid_[d].size;
    rest /= grid_[d].size;
  }
  while (count != 0) {
    std::uint64_t chunk = 0;
    std::uint64_t inside = 0;
    std::uint64_t room = 0;
    for (std::size_t d = 0; d <= last; ++d) {
      const auto place = at[d] % grid_[d].chunk;
      chunk += at[d] / grid_[d].chunk * grid_[d].chunks_below;
      inside += place * grid_[d].elements_below;
      room = std::min(grid_[d].chunk - place, grid_[d].size - at[d]);
    }
    const auto step = std::min(room, count);
    const auto address = chunks_[chunk];
    take(address == kHole ? kHole : address + inside * element_size_, step * element_size_);
    count -= step;
    at[last] += step;
    for (auto d = last; d > 0 && at[d] == grid_[d].size; --d) {
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

}  // namespace forebay::hdf5
