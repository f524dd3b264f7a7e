// One H5Dwrite or H5Dread of a dataset whose map is known, as plain reads and writes of its file.
//
// plan() looks at everything that may be refused and moves nothing; write() and read() move. Bytes go
// straight between the caller's memory and the file where both have the same type and memory is not torn into
// small pieces, else through recycled memory in steps of bounded size. Each element is moved as HDF5 would,
// in the order of the selections. Used in the thread that made it; the ids given must outlive it.
#pragma once

#include <H5Ipublic.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "door/hdf5/dataset_map.hpp"
#include "door/hdf5/selection.hpp"

namespace forebay::hdf5 {

// The file, by absolute offset.
class RawFile {
 public:
  virtual ~RawFile() = default;
  virtual Status write(std::uint64_t offset, std::span<const std::byte> data) = 0;
  // What lies beyond the file's end reads as zeros.
  virtual Status read(std::uint64_t offset, std::span<std::byte> out) = 0;
};

// As handed to a connector's dataset_read and dataset_write. The spaces may be H5S_ALL or H5S_BLOCK.
struct TransferCall {
  hid_t memory_type;
  hid_t memory_space;
  hid_t file_space;
  hid_t transfer;  // property list
};

class Transfer {
 public:
  enum class Direction { kWrite, kRead };

  // `memory` may be null if nothing is selected.
  static std::expected<Transfer, Reason> plan(const DatasetMap& map, const TransferCall& request,
                                              const void* memory, Direction direction);

  Status write(const void* memory, RawFile& file);
  Status read(void* memory, RawFile& file);

  // Are elements converted, and can that be done in the memory that they are read into?
  [[nodiscard]] bool converts() const { return !same_type_; }
  [[nodiscard]] bool fits_in_memory() const { return memory_size_ >= map_.element_size(); }
  // All of it, in the larger of the two types.
  [[nodiscard]] std::uint64_t bytes() const {
    return in_file_.elements() * std::max(memory_size_, map_.element_size());
  }

 private:
  enum class Background { kNone, kScratch, kContent };

  Transfer(const DatasetMap& map, const TransferCall& request, Selection in_memory, Selection in_file)
      : map_(map), request_(request), in_memory_(std::move(in_memory)), in_file_(std::move(in_file)) {}
  std::expected<void, Reason> find_conversion(Direction direction);
  [[nodiscard]] bool straight() const;
  [[nodiscard]] std::uint64_t step() const;

  // Adds the next `count` elements of the file's selection, which lie or shall lie at `memory`, and returns
  // how many it added: fewer when there are `enough` extents.
  std::uint64_t locate(std::uint64_t count, std::byte* memory, std::vector<Extent>& extents,
                       std::size_t enough);
  void take_memory(std::uint64_t count, std::vector<Run>& runs);
  Status convert(hid_t from, hid_t to, std::uint64_t count, Scratch& scratch, std::byte* background) const;
  Status read_extents(Scratch& scratch, RawFile& file) const;
  [[nodiscard]] Status selections_held() const;

  const DatasetMap& map_;
  TransferCall request_;
  Selection in_memory_;
  Selection in_file_;
  std::size_t memory_size_ = 0;  // of an element
  bool same_type_ = false;
  Background background_ = Background::kNone;
};

}  // namespace forebay::hdf5
