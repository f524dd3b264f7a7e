// Looking at files of homes without asking home more than need be.
//
// Over a network the answer to an open, a look-up or a change of times brings the file's attributes along,
// and the system remembers them. A file system that does (NFS, FUSE) is asked for what it remembers right
// after such a call. Elsewhere, and where what it remembers is not the whole identity, home is asked.
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "engine/file_table.hpp"

namespace forebay {

enum class FileSystem {
  kMemory,     // as fast as any tier
  kRemembers,  // the system remembers the attributes that answers bring
  kOther,
};
// That of a device, by the kernel's list of mounts (proc(5), "mountinfo").
[[nodiscard]] FileSystem file_system_of(std::string_view mounts, std::uint64_t device);

class HomeStamps {
 public:
  // Of a file for which home has just answered one of those calls.
  Result<HomeStamp> just_answered(int fd, std::string_view path);
  // Where an open file lies.
  [[nodiscard]] FileSystem file_system(int fd);

 private:
  struct Kind {
    FileSystem system;
    std::optional<bool> tells_birth{};  // when it is asked; nothing: it has not been yet
  };
  Kind kind(std::uint64_t device);

  std::mutex mutex_;
  std::map<std::uint64_t, Kind> kinds_;  // guarded by mutex_; by device
};

}  // namespace forebay
