// Changing a file's size: in the buffer and at home.
#pragma once

#include "base/error.hpp"
#include "engine/core.hpp"
#include "engine/drain.hpp"
#include "engine/home_file.hpp"

namespace forebay {

// Holds a file's lock, having finished what a dead owner had begun. ETIMEDOUT: a living owner has neither
// brought anything home nor made the file longer for limits.home_wait.
class FileLock {
 public:
  static Result<FileLock> take(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home);
  FileLock(FileLock&& other) noexcept : core_(std::exchange(other.core_, nullptr)), file_(other.file_) {}
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() {
    if (core_ != nullptr) core_->peers.unlock(core_->control.file(file_).lock);
  }

 private:
  FileLock(Core& core, std::uint32_t file) : core_(&core), file_(file) {}
  Core* core_;
  std::uint32_t file_;
};

// Makes the file `size` bytes long, here and at home. `home` may be null: then it is opened by its path.
Status truncate_file(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home, std::uint64_t size);

// The same for whoever holds the file's lock.
Status truncate_locked(Core& core, Drain& drain, const FileLock& lock, std::uint32_t file,
                       const HomeFile* home, std::uint64_t size);

// Waits for, or finishes, a truncation that was seen in progress.
Status help_truncation(Core& core, Drain& drain, std::uint32_t file, const HomeFile* home);

// Returns when no bucket of the file is being written home by somebody who began before the call.
Status wait_out_claims(Core& core, Drain& drain, std::uint32_t file);

enum class Drop {
  kClean,          // what is merely a copy of home
  kCleanUnpinned,  // as far as nobody pinned it
  kAll,            // unsaved bytes too, but for what is being written home
};

// Forgets what [first, last] of a file has in the buffer.
void drop_buckets(Core& core, std::uint32_t file, std::uint64_t first, std::uint64_t last, Drop what);
// Gives up all that the buffer has of a file, unsaved bytes too, and its record, if that still has that
// `key`. `then` is called with it; nobody opens the file in between. EBUSY: somebody has it open. What a home
// that does not answer is being sent stays, and the record with it.
Status give_up(Core& core, Drain& drain, std::uint32_t file, Key key, const std::function<void()>& then = {});
// What is clean of a file that is not kept (kFileDrops) and that nobody has open.
void drop_if_closed(Core& core, std::uint32_t file);

}  // namespace forebay
