// An open file that stays ours although the application closes descriptors it does not own.
//
// A program that turns itself into a daemon, or a careless library, closes every descriptor it finds, and the
// next file it opens gets our number: a plain pwrite would then land in the application's file. So each use
// asks the kernel (0.3 µs) whether the number still means our file, and if not, opens the file again by its
// path. A number that is no longer ours is never closed. What remains is the instant between the question and
// the system call.
//
// Thread-safe, except for moving. Keep the descriptor for one system call only.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/private_file.hpp"

namespace forebay {

class SteadyFile {
 public:
  SteadyFile() = default;
  // As open_private_file; `flags` (O_DIRECT, O_DSYNC) are kept when the file is opened again.
  static Result<SteadyFile> open(const Fd& directory, const std::string& name, Create create, int flags = 0);
  SteadyFile(SteadyFile&& other) noexcept;
  SteadyFile& operator=(SteadyFile&& other) noexcept;
  SteadyFile(const SteadyFile&) = delete;
  SteadyFile& operator=(const SteadyFile&) = delete;
  ~SteadyFile();

  // ESTALE when the number was taken away and another file, or none, lies at the path now.
  [[nodiscard]] Result<int> descriptor() const;

  // ESTALE when the file has no name any more: whoever attaches next would not find it.
  [[nodiscard]] Status still_there() const;

  // The whole path, or just the name where /proc is missing.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] bool is_ours(int fd) const;
  void close();

  std::string path_;
  int flags_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  mutable std::atomic<int> fd_{-1};
  mutable std::mutex reopening_;
};

}  // namespace forebay
