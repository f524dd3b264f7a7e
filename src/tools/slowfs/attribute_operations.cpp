// Attributes, extended attributes, and the state of the file system as a whole.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "tools/slowfs/control.hpp"
#include "tools/slowfs/filesystem.hpp"

namespace forebay::slowfs {
namespace {

void get_attributes(fuse_req_t req, fuse_ino_t number, fuse_file_info* /*info*/) {
  if (control::owns(number)) {
    const struct stat attributes = control::attributes(number);
    fuse_reply_attr(req, &attributes, 0);
    return;
  }
  Request request(req, Kind::Query);
  Reached file;
  if (!request.admit(number, file)) return;
  struct stat attributes{};
  if (fstat(file.fd(), &attributes) != 0) return request.answer(errno);
  request.answer_attributes(attributes);
}

timespec time_to_set(int wanted, int set_bit, int now_bit, const timespec& value) {
  if ((wanted & now_bit) != 0) return {.tv_sec = 0, .tv_nsec = UTIME_NOW};
  if ((wanted & set_bit) != 0) return value;
  return {.tv_sec = 0, .tv_nsec = UTIME_OMIT};
}

int change_attributes(const Reached& file, const struct stat& values, int wanted,
                      const fuse_file_info* info) {
  const std::string path = file.path();
  if ((wanted & FUSE_SET_ATTR_MODE) != 0 && chmod(path.c_str(), values.st_mode) != 0) return errno;
  if ((wanted & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) != 0) {
    const uid_t uid = (wanted & FUSE_SET_ATTR_UID) != 0 ? values.st_uid : static_cast<uid_t>(-1);
    const gid_t gid = (wanted & FUSE_SET_ATTR_GID) != 0 ? values.st_gid : static_cast<gid_t>(-1);
    if (fchownat(file.fd(), "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) return errno;
  }
  if ((wanted & FUSE_SET_ATTR_SIZE) != 0) {
    const int result = info != nullptr ? ftruncate(static_cast<int>(info->fh), values.st_size)
                                       : truncate(path.c_str(), values.st_size);
    if (result != 0) return errno;
  }
  constexpr int kTimes =
      FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW;
  if ((wanted & kTimes) != 0) {
    const std::array times = {
        time_to_set(wanted, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, values.st_atim),
        time_to_set(wanted, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, values.st_mtim)};
    if (utimensat(AT_FDCWD, path.c_str(), times.data(), 0) != 0) return errno;
  }
  return 0;
}

void set_attributes(fuse_req_t req, fuse_ino_t number, struct stat* values, int wanted,
                    fuse_file_info* info) {
  // "echo ... > control" truncates before it writes.
  if (control::owns(number)) return get_attributes(req, number, info);
  Request request(req, Kind::Change, true);
  Reached file;
  if (!request.admit(number, file)) return;
  if (const int error = change_attributes(file, *values, wanted, info); error != 0)
    return request.answer(error);
  struct stat attributes{};
  if (fstat(file.fd(), &attributes) != 0) return request.answer(errno);
  request.answer_attributes(attributes);
}

void access(fuse_req_t req, fuse_ino_t number, int mask) {
  if (control::owns(number)) {
    fuse_reply_err(req, 0);
    return;
  }
  Request request(req, Kind::Query, (mask & W_OK) != 0);
  Reached file;
  if (request.admit(number, file)) request.answer_call(::access(file.path().c_str(), mask));
}

void set_xattr(fuse_req_t req, fuse_ino_t number, const char* name, const char* value, size_t size,
               int flags) {
  if (control::owns(number)) {
    fuse_reply_err(req, ENOTSUP);
    return;
  }
  Request request(req, Kind::Change, true);
  Reached file;
  if (request.admit(number, file)) {
    request.answer_call(setxattr(file.path().c_str(), name, value, size, flags));
  }
}

void remove_xattr(fuse_req_t req, fuse_ino_t number, const char* name) {
  if (control::owns(number)) {
    fuse_reply_err(req, ENOTSUP);
    return;
  }
  Request request(req, Kind::Change, true);
  Reached file;
  if (request.admit(number, file)) request.answer_call(removexattr(file.path().c_str(), name));
}

// `get` has the convention of getxattr: with size 0 it only says how much there is.
template <class Get>
void answer_xattr(fuse_req_t req, fuse_ino_t number, size_t size, Get get) {
  if (control::owns(number)) {
    fuse_reply_err(req, ENOTSUP);
    return;
  }
  Request request(req, Kind::Query);
  Reached file;
  if (!request.admit(number, file)) return;
  std::vector<char> value(size);
  const ssize_t length = get(file.path().c_str(), value.data(), size);
  if (length < 0) return request.answer(errno);
  if (size == 0) return request.answer_size(static_cast<size_t>(length));
  request.answer_data(value.data(), static_cast<size_t>(length));
}

void get_xattr(fuse_req_t req, fuse_ino_t number, const char* name, size_t size) {
  answer_xattr(req, number, size, [name](const char* path, char* value, size_t room) {
    return getxattr(path, name, value, room);
  });
}

void list_xattr(fuse_req_t req, fuse_ino_t number, size_t size) {
  answer_xattr(req, number, size,
               [](const char* path, char* value, size_t room) { return listxattr(path, value, room); });
}

void get_statfs(fuse_req_t req, fuse_ino_t /*number*/) {
  Request request(req, Kind::Query);
  if (!request.admit()) return;
  Filesystem& filesystem = request.filesystem();
  struct statvfs values{};
  if (fstatvfs(filesystem.inodes.reach(filesystem.inodes.root()).fd(), &values) != 0)
    return request.answer(errno);
  if (const uint64_t capacity = filesystem.slowness.settings().capacity; capacity != 0) {
    const uint64_t used = filesystem.capacity.measure();
    values.f_blocks = capacity / values.f_frsize;
    values.f_bfree = values.f_bavail = (capacity > used ? capacity - used : 0) / values.f_frsize;
  }
  request.answer_statfs(values);
}

}  // namespace

void add_attribute_operations(fuse_lowlevel_ops& operations) {
  operations.getattr = get_attributes;
  operations.setattr = set_attributes;
  operations.access = access;
  operations.setxattr = set_xattr;
  operations.getxattr = get_xattr;
  operations.listxattr = list_xattr;
  operations.removexattr = remove_xattr;
  operations.statfs = get_statfs;
}

}  // namespace forebay::slowfs
