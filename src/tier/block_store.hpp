// A tier that is a file: slots of one bucket each, on a local disk or in a directory that several nodes see.
//
// The page cache is bypassed (O_DIRECT) where the file system takes that. Which slots are in use, and by
// what, is the engine's business: the store only moves bytes, and a failure names the file and what was done
// to it.
//
// Thread-safe; calls to grow() for one file must exclude each other across processes. For many transfers at a
// time see BlockQueue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/steady_file.hpp"
#include "tier/aligned_buffer.hpp"

namespace forebay {

class BlockStore {
 public:
  // EINVAL when the bucket size is no power of two from 4 KiB to 16 MiB or there are no slots.
  static Result<BlockStore> open(const Fd& directory, const std::string& file_name, std::uint64_t bucket_size,
                                 std::uint64_t slots, Create create = Create::kIfMissing);

  // The name of a tier's file in a directory that other nodes see too: "burst-node17.data".
  static std::string shared_file_name(const std::string& tier);

  [[nodiscard]] std::uint64_t slots() const { return slots_; }
  [[nodiscard]] std::uint64_t bucket_size() const { return bucket_size_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  // Is the page cache bypassed?
  [[nodiscard]] bool direct() const { return direct_; }

  // Reserves storage of the slots [from, to). ENOSPC, with nothing changed, when there is no room; ESTALE
  // when the file was removed behind our back. Where the file system cannot promise storage the file only
  // gets longer, and a write may say ENOSPC later.
  Status grow(std::uint64_t from, std::uint64_t to);

  // How many slots from the first on the file has, by its length now: an attaching process refuses a file
  // that has less than the control file claims.
  [[nodiscard]] Result<std::uint64_t> reserved_slots() const;

  // A whole bucket.
  Status write(std::uint64_t slot, const std::byte* data) { return write(slot, 0, bucket_size_, data); }
  // A part of a bucket: `offset` and `length` are multiples of 4 KiB. Data that is not so aligned is copied
  // first.
  Status write(std::uint64_t slot, std::uint64_t offset, std::uint64_t length, const std::byte* data);

  // Any part of a bucket, to anywhere.
  Status read(std::uint64_t slot, std::uint64_t offset, std::uint64_t length, std::byte* to);

 private:
  friend class BlockQueue;

  BlockStore(SteadyFile file, std::uint64_t bucket_size, std::uint64_t slots, bool direct);
  [[nodiscard]] Status check(std::uint64_t slot, std::uint64_t offset, std::uint64_t length) const;
  [[nodiscard]] Status write_at(std::uint64_t position, std::uint64_t length, const std::byte* data) const;
  [[nodiscard]] Status read_at(std::uint64_t position, std::uint64_t length, std::byte* to) const;
  [[nodiscard]] std::unexpected<Error> failure(int code, const char* action, std::uint64_t position) const;

  SteadyFile file_;
  std::uint64_t bucket_size_;
  std::uint64_t slots_;
  bool direct_;
  std::unique_ptr<BufferPool> bounce_;
};

}  // namespace forebay
