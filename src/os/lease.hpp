// A lease: proof to other processes that this one lives, which the kernel ends with the process.
//
// A slot is one byte of a lock file, held by a lock for life (os/life_lock.hpp): it survives close_range and
// SIGSTOP, is not inherited by fork and ends with SIGKILL or exec.
//
// What a process has in flight in an io_uring lands after its death, and the ring is gone only tens of
// milliseconds later. So the ring holds a lock of its own, beside the lease: what its transfers may touch is
// free when both ended.
//
// L1: a lease ends only when no thread of its address space can store to shared memory or be inside a system
// call.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/mapping.hpp"

namespace forebay {

class LeaseFile {
 public:
  // `path` is the lock file, already made and private. Kept as a path: a descriptor kept open could be closed
  // and its number reused behind our back, and then every peer would look dead.
  static Result<LeaseFile> open(std::string path);

  // Is anybody holding `slot`? True when in doubt (the file cannot be opened).
  [[nodiscard]] bool held(std::uint32_t slot) const;

  // Tries to hold `slot`. The Mapping is the lease; EAGAIN when somebody has it.
  [[nodiscard]] Result<Mapping> take(std::uint32_t slot) const;

  // A descriptor whose open file description stands for the io_uring of the holder of `slot`: to be
  // registered with the ring and then closed. EAGAIN while the ring of an earlier holder lives on.
  [[nodiscard]] Result<Fd> take_for_ring(std::uint32_t slot) const;
  // Is there a ring of a holder of `slot`? True when in doubt.
  [[nodiscard]] bool ring_held(std::uint32_t slot) const;

  // The one process that carries home what those who left did not wait for. EAGAIN when there is one.
  [[nodiscard]] Result<Mapping> take_heir() const;
  [[nodiscard]] bool heir_held() const;

  // Holds the byte beside the slots that serialises making and removing a buffer. Released with the
  // descriptor.
  [[nodiscard]] Result<Fd> lock_whole(std::chrono::milliseconds patience) const;

  // ESTALE when the path no longer leads to this file.
  [[nodiscard]] Status still_there() const;

 private:
  explicit LeaseFile(std::string path, dev_t device, ino_t inode)
      : path_(std::move(path)), device_(device), inode_(inode) {}
  [[nodiscard]] Result<Fd> reopen() const;
  [[nodiscard]] bool locked(off_t byte) const;

  std::string path_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace forebay
