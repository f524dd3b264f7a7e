// The directory /.slowfs inside the mount: `control` (read: the settings; write: change them) and `stats`.
//
// It is found by name and not listed in the root. Its requests are neither delayed, failed nor counted.
#pragma once

#include "tools/slowfs/filesystem.hpp"

namespace forebay::slowfs::control {

// Numbers below any that a pointer to an Inode could have.
enum Number : fuse_ino_t { Directory = 2, Settings = 3, Statistics = 4 };

inline bool owns(fuse_ino_t number) { return number >= Directory && number <= Statistics; }

// The number of `name` in `parent`, or 0 if it is none of ours. Within the directory, a name that does not
// exist is `owns(parent)` with 0.
fuse_ino_t find(fuse_ino_t parent, std::string_view name);
struct stat attributes(fuse_ino_t number);

// Each answers the request.
void look_up(fuse_req_t req, fuse_ino_t number);
void open(fuse_req_t req, fuse_ino_t number, fuse_file_info* info);
void read(fuse_req_t req, size_t size, off_t offset, const fuse_file_info* info);
void write(fuse_req_t req, fuse_ino_t number, const char* data, size_t size);
void release(fuse_req_t req, fuse_file_info* info);
void read_directory(fuse_req_t req, size_t size, off_t offset);

}  // namespace forebay::slowfs::control
