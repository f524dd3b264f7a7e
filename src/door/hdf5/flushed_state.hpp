// Keeps what the last flush of a file left, until the next one: whoever dies in between leaves that state.
//
// The state is the bytes below `kept_end` as they were at the flush. Nothing of it refers to what lies
// beyond, so that beyond it everything is staged as it comes; below it
//  - metadata, the superblock first of all, wait in memory until commit() hands them to the engine as one;
//  - data are staged as they come, unless they may lie where something of the kept state was freed since.
// So buffer and home hold at every moment what the last flush left, or what the next one does, and beside it
// data that overwrote data of the same dataset. A file that was made here and never flushed has no state to
// keep. Where more than `kMostHeld` would wait, the state is given up until the next flush.
//
// A forked child sees what waited in its parent then, and its parent may go on and hand it over by itself:
// see inherit().
//
// Not thread-safe: HDF5 calls a driver under its own lock.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "door/hdf5/held_writes.hpp"
#include "engine/file.hpp"

namespace forebay::hdf5 {

class FlushedState {
 public:
  static constexpr std::uint64_t kMostHeld = 64u << 20;

  // What the file holds now is to be kept.
  Status keep(const File& file);
  // Space of the state may be freed from now on and given to other data.
  void expect_reuse() { reuse_ = true; }
  // Would it matter?
  [[nodiscard]] bool minds_reuse() const { return kept_end_ != 0 && !reuse_; }

  Status write(File& file, H5FD_mem_t type, std::uint64_t offset, std::span<const std::byte> data);
  // Short at the end of the file.
  Result<std::uint64_t> read(File& file, std::uint64_t offset, std::span<std::byte> out) const;
  Status truncate(File& file, std::uint64_t size);

  // From now on the file is what was written: all of it or, if the process dies over it, nothing. Until the
  // next commit the superblock at `superblock`, if one is named, is made that of a closed file if the process
  // dies.
  Status commit(File& file, std::optional<std::uint64_t> superblock = std::nullopt);
  // Does anything wait for a commit?
  [[nodiscard]] bool waiting() const { return !held_.empty() || !inherited_.empty() || cut_; }

  // Do data, and not only metadata?
  [[nodiscard]] bool holds_data() const { return holds_data_; }

  // In a forked child, before anything else: what waits is the parent's. It is seen, and goes with the next
  // commit unless it is left to the parent.
  void inherit();
  void leave_to_parent();
  // Was a state given up since this was last asked?
  [[nodiscard]] bool gave_up() { return std::exchange(gave_up_, false); }

 private:
  // A size below kept_end: the file was cut to `lowest`, and is `size` long by now.
  struct Cut {
    std::uint64_t lowest;
    std::uint64_t size;
  };
  [[nodiscard]] bool waits(H5FD_mem_t type, std::span<const std::byte> data) const;
  Status give_up(File& file);

  std::uint64_t kept_end_ = 0;
  bool reuse_ = false;
  bool gave_up_ = false;
  bool will_stands_ = false;
  bool holds_data_ = false;
  HeldWrites held_{};         // below kept_end_
  HeldWrites inherited_{};    // likewise, and below what is held
  std::optional<Cut> cut_{};  // what is not held from `lowest` to kept_end_ reads as zeros
  bool inherited_cut_ = false;
};

}  // namespace forebay::hdf5
