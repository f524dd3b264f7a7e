// The file system as one object, and a request on its way through it.
#pragma once

#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 312
#endif
#include <fuse3/fuse_lowlevel.h>

#include <string>
#include <string_view>
#include <utility>

#include "tools/slowfs/capacity.hpp"
#include "tools/slowfs/handle_set.hpp"
#include "tools/slowfs/inode_table.hpp"
#include "tools/slowfs/slowness.hpp"
#include "tools/slowfs/statistics.hpp"

namespace forebay::slowfs {

struct Filesystem {
  Filesystem(const std::string& source, Fd source_fd, const Settings& settings)
      : inodes(std::move(source_fd)), slowness(settings), capacity(source) {}

  InodeTable inodes;
  Statistics statistics;
  Slowness slowness;
  Capacity capacity;
  HandleSet handles;
  fuse_session* session = nullptr;  // set before the first request
};

inline Filesystem& filesystem_of(fuse_req_t req) { return *static_cast<Filesystem*>(fuse_req_userdata(req)); }

Inode& inode_of(fuse_req_t req, fuse_ino_t number);

// One request: counted from construction to its answer, held up before and after as the settings ask. Exactly
// one answering method is called, last.
class Request {
 public:
  Request(fuse_req_t req, Kind kind, bool changes = false);

  Filesystem& filesystem() { return filesystem_; }

  // False if the request is refused, in which case it has been answered.
  bool admit();
  // The same for a request about a file, which is reached. It is refused where the file is gone.
  bool admit(fuse_ino_t number, Reached& file);
  bool reach(fuse_ino_t number, Reached& file);

  void answer(int error);  // 0 for plain success
  // Success if `result` is not negative, else errno.
  void answer_call(int result);
  void answer_entry(const Reached& parent, const char* name);
  void answer_attributes(const struct stat& attributes);
  // False if nobody took the handle, so that nobody will release it.
  [[nodiscard]] bool answer_open(fuse_file_info* info);
  [[nodiscard]] bool answer_created(const Reached& parent, const char* name, fuse_file_info* info);
  void answer_data(const char* data, size_t size);
  void answer_written(size_t size);
  void answer_text(const char* text);
  void answer_size(size_t size);
  void answer_offset(off_t offset);
  void answer_statfs(const struct statvfs& values);

 private:
  void finish(uint64_t bytes, int error);
  bool abandoned() const;

  fuse_req_t req_;
  Filesystem& filesystem_;
  Kind kind_;
  bool changes_;
  Slowness::Clock::time_point arrival_;
};

// Fills in the operations of one file each.
void add_name_operations(fuse_lowlevel_ops& operations);
void add_attribute_operations(fuse_lowlevel_ops& operations);
void add_file_operations(fuse_lowlevel_ops& operations);
void add_directory_operations(fuse_lowlevel_ops& operations);

}  // namespace forebay::slowfs
