// The buffered descriptors of this process: which open file of the buffer each of them means.
//
// Descriptors that were duplicated share one Open, which is closed with the last of them. Thread-safe:
// whoever uses an Open holds a reference, so that a close beside it does not take it away. In a forked child
// the entries are its parent's: their files must not be touched there, and are opened anew when they are
// used.
#pragma once

#include <fcntl.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/file.hpp"

namespace forebay::posix {

struct Open {
  std::shared_ptr<File> file;
  int flags;                               // of the open file: access mode, O_APPEND
  std::uint32_t process;                   // fork_generation() of the process that opened it
  std::atomic<bool> locked = false;        // by flock, which ends when nobody has the open file any more
  std::atomic<off_t> reach = 0xffff'ffff;  // home is known to take bytes up to here
  std::atomic<std::uint32_t> references = 1;
  std::mutex position = {};  // of one that is read and written: while a part is taken at its position

  [[nodiscard]] bool readable() const { return (flags & O_ACCMODE) != O_WRONLY && (flags & O_PATH) == 0; }
  [[nodiscard]] bool writable() const { return (flags & O_ACCMODE) != O_RDONLY; }
  [[nodiscard]] bool appends() const { return (flags & O_APPEND) != 0; }
};

// A reference to an Open.
class Pin {
 public:
  Pin() = default;
  explicit Pin(Open* open) : open_(open) {}
  Pin(Pin&& other) noexcept : open_(std::exchange(other.open_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(open_, other.open_);
    return *this;
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin() { (void)release(); }

  explicit operator bool() const { return open_ != nullptr; }
  Open* operator->() const { return open_; }
  [[nodiscard]] Open* get() const { return open_; }
  [[nodiscard]] Pin again() const;

  [[nodiscard]] Open* take() { return std::exchange(open_, nullptr); }

  // Gives it back. The last one closes the file: what went wrong with it since is the result.
  Status release();
  // The same for close(2) of `fd`. kClosed (with an errno added): `fd` is closed too, or its number is free
  // and the rest follows; 0: it is still to be closed. So it is after a failure.
  Result<long> release_and_close(int fd);

 private:
  Open* open_ = nullptr;
};

// What `fd` means; nothing if it is not buffered.
Pin descriptor(int fd);
// From now on `fd` means this, or nothing. What it meant before is given back.
Status set_descriptor(int fd, Pin open);

// For close(2): as set_descriptor(fd, {}), with the answer of Pin::release_and_close.
Result<long> close_descriptor(int fd);

// No descriptor from here on was ever buffered.
int descriptor_end();

}  // namespace forebay::posix
