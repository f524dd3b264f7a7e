// Directories and files that only their owner can reach, opened without following links.
//
// Whatever is found in the way (another owner, other permissions, a symbolic link, a special file, a second hard
// link) is refused with words, never repaired: it may be somebody's trap.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"

namespace forebay {

// Opens `path`, making it with mode 0700 if it is not there. The parent must exist.
Result<Fd> open_private_directory(const std::string& path);

enum class Create { kNever, kIfMissing, kExclusive };

// Opens `name` in `directory` for reading and writing, mode 0600. ENOENT with Create::kNever and EEXIST with
// Create::kExclusive are the plain outcomes; EPERM says that something else lies there.
Result<Fd> open_private_file(const Fd& directory, const std::string& name, Create create);

// Reserves storage for [from, to) so that touching it can never raise SIGBUS. ENOSPC when there is no room: then
// nothing stays allocated beyond what the file had.
Status reserve_storage(const Fd& file, std::uint64_t from, std::uint64_t to, const std::string& name);

// Full reads and writes at an offset: retry EINTR and short transfers. `read_fully` returns what there was up to the
// end of the file.
Result<std::uint64_t> read_fully(int fd, void* data, std::uint64_t size, std::uint64_t offset);
Status write_fully(int fd, const void* data, std::uint64_t size, std::uint64_t offset);

}  // namespace forebay
