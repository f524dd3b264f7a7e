// Many transfers of one BlockStore under way at a time, through io_uring.
//
// Belongs to the thread that opened it: open, use and destroy it there. Memory handed to a submit must stay
// as it is until its completion is reaped; the destructor waits for all of them.
//
// What a killed process had in flight still reaches the disk, after the kernel has ended the process's lease,
// and would overwrite what a successor put into the slot meanwhile. So the lease's file is registered in the
// ring: the kernel keeps it, and with it the lease, until the last transfer of the ring is done. The ring has
// no descriptor (it would be inherited by fork, and a child would keep its dead parent's lease alive) and no
// mapping in a child.
//
// Where the kernel has no io_uring (old, forbidden in a container) or cannot hide the ring's descriptor
// (before Linux 6.3), submit does the transfer itself before it returns: slower, equally safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "tier/block_store.hpp"

namespace forebay {

class BlockQueue {
 public:
  struct Done {
    std::uint64_t cookie;
    Status status;
  };

  // `depth`: how many transfers may be under way, 1 to 1024. `lease_fd`: a descriptor whose open file
  // description holds this process's lease, or -1; the caller may close it afterwards. The store must outlive
  // the queue.
  static Result<BlockQueue> open(BlockStore& store, unsigned depth, int lease_fd);
  BlockQueue(BlockQueue&&) noexcept;
  BlockQueue& operator=(BlockQueue&&) = delete;
  ~BlockQueue();

  // False when `depth` transfers are under way: reap one first. Whatever else goes wrong comes back from
  // reap(). A write's offset and length are multiples of 4 KiB; what is not aligned for direct I/O is done
  // synchronously.
  bool submit_write(std::uint64_t slot, std::uint64_t offset, std::uint64_t length, const std::byte* data,
                    std::uint64_t cookie);
  bool submit_write(std::uint64_t slot, const std::byte* data, std::uint64_t cookie);
  bool submit_read(std::uint64_t slot, std::uint64_t offset, std::uint64_t length, std::byte* to,
                   std::uint64_t cookie);

  // The next finished transfer, waiting for it up to `wait`. Nothing when none is under way or none finished
  // in time.
  std::optional<Done> reap(std::chrono::milliseconds wait);

  [[nodiscard]] unsigned in_flight() const;
  // False where submit does the transfer itself.
  [[nodiscard]] bool asynchronous() const;

 private:
  struct State;
  explicit BlockQueue(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace forebay
