// Directories and files that only their owner can reach, opened without following links.
//
// Whatever is found in the way (another owner, other permissions, a symbolic link, a special file, a second
// hard link) is refused with words, never repaired: it may be somebody's trap.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"

namespace forebay {

enum class Create { kNever, kIfMissing, kExclusive };

// Opens `path`, making it with mode 0700 if it is not there (ENOENT with Create::kNever). The parent must
// exist.
Result<Fd> open_private_directory(const std::string& path, Create create = Create::kIfMissing);

// Opens `name` in `directory` for reading and writing, mode 0600. ENOENT with Create::kNever and EEXIST with
// Create::kExclusive are the plain outcomes; EPERM says that something else lies there.
// `flags` are added to those of open(2): O_DIRECT, O_DSYNC. The descriptor is a blocking one.
Result<Fd> open_private_file(const Fd& directory, const std::string& name, Create create, int flags = 0);

// Reserves storage for [from, to) so that touching it can never raise SIGBUS. ENOSPC when there is no room:
// then the file is as long as it was. EOPNOTSUPP when the file system cannot promise storage. Two callers
// that grow one file must exclude each other.
Status reserve_storage(int file, std::uint64_t from, std::uint64_t to, const std::string& name);
inline Status reserve_storage(const Fd& file, std::uint64_t from, std::uint64_t to, const std::string& name) {
  return reserve_storage(file.get(), from, to, name);
}

// Where an open file or directory lies, for messages and for opening it again; empty if /proc does not say.
std::string path_of(int fd);

// Full reads and writes at an offset: retry EINTR and short transfers. `read_fully` returns what there was up
// to the end of the file.
Result<std::uint64_t> read_fully(int fd, void* data, std::uint64_t size, std::uint64_t offset);
Status write_fully(int fd, const void* data, std::uint64_t size, std::uint64_t offset);

}  // namespace forebay
