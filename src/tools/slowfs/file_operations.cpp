// Open files: a handle is a descriptor of the source's file.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "tools/slowfs/control.hpp"
#include "tools/slowfs/filesystem.hpp"

namespace forebay::slowfs {
namespace {

int descriptor(const fuse_file_info* info) { return static_cast<int>(info->fh); }

// Appending is decided write by write (the caller may change its mind with fcntl), and buffers of FUSE are
// not aligned as O_DIRECT would ask.
int source_flags(int flags) { return (flags & ~(O_APPEND | O_DIRECT | O_NOFOLLOW)) | O_CLOEXEC; }

bool would_change(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | O_CREAT)) != 0; }

// Every read and write of a program becomes a request, and writers of one file do not wait for each other.
void set_direct(fuse_file_info* info, int fd) {
  info->fh = static_cast<uint64_t>(fd);
  info->direct_io = 1;
  info->parallel_direct_writes = 1;
}

void open_file(fuse_req_t req, fuse_ino_t number, fuse_file_info* info) {
  if (control::owns(number)) return control::open(req, number, info);
  Request request(req, Kind::Open, would_change(info->flags));
  Reached file;
  if (!request.admit(number, file)) return;
  const int fd = open(file.path().c_str(), source_flags(info->flags));
  if (fd < 0) return request.answer(errno);
  set_direct(info, fd);
  if (!request.answer_open(info)) close(fd);
}

void create_file(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
  if (control::owns(parent) || control::find(parent, name) != 0) {
    fuse_reply_err(req, EACCES);
    return;
  }
  Request request(req, Kind::Open, true);
  Reached folder;
  if (!request.admit(parent, folder)) return;
  const int fd = openat(folder.fd(), name, source_flags(info->flags) | O_CREAT, mode);
  if (fd < 0) return request.answer(errno);
  set_direct(info, fd);
  if (!request.answer_created(folder, name, info)) close(fd);
}

void read_file(fuse_req_t req, fuse_ino_t number, size_t size, off_t offset, fuse_file_info* info) {
  if (control::owns(number)) return control::read(req, size, offset, info);
  Request request(req, Kind::Read);
  if (!request.admit()) return;
  thread_local std::vector<char> buffer;
  if (buffer.size() < size) buffer.resize(size);
  const ssize_t done = pread(descriptor(info), buffer.data(), size, offset);
  if (done < 0) return request.answer(errno);
  request.answer_data(buffer.data(), static_cast<size_t>(done));
}

void write_file(fuse_req_t req, fuse_ino_t number, const char* data, size_t size, off_t offset,
                fuse_file_info* info) {
  if (control::owns(number)) return control::write(req, number, data, size);
  Request request(req, Kind::Write, true);
  if (!request.admit()) return;
  Filesystem& filesystem = request.filesystem();
  if (const uint64_t capacity = filesystem.slowness.settings().capacity; capacity != 0) {
    size = filesystem.capacity.admit(descriptor(info), static_cast<uint64_t>(offset), size, capacity);
    if (size == 0) return request.answer(ENOSPC);
  }
  const bool append = (info->flags & O_APPEND) != 0 && info->writepage == 0;
  const iovec piece{.iov_base = const_cast<char*>(data), .iov_len = size};
  const ssize_t done = pwritev2(descriptor(info), &piece, 1, offset, append ? RWF_APPEND : 0);
  if (done < 0) return request.answer(errno);
  request.answer_written(static_cast<size_t>(done));
}

void flush_file(fuse_req_t req, fuse_ino_t number, fuse_file_info* /*info*/) {
  if (control::owns(number)) {
    fuse_reply_err(req, 0);
    return;
  }
  Request request(req, Kind::Close);
  if (request.admit()) request.answer(0);
}

void release_file(fuse_req_t req, fuse_ino_t number, fuse_file_info* info) {
  if (control::owns(number)) return control::release(req, info);
  close(descriptor(info));
  fuse_reply_err(req, 0);
}

void sync_file(fuse_req_t req, fuse_ino_t number, int data_only, fuse_file_info* info) {
  if (control::owns(number)) {
    fuse_reply_err(req, 0);
    return;
  }
  Request request(req, Kind::Fsync);
  if (!request.admit()) return;
  if (!request.filesystem().slowness.settings().sync_source) return request.answer(0);
  request.answer_call(data_only != 0 ? fdatasync(descriptor(info)) : fsync(descriptor(info)));
}

void allocate(fuse_req_t req, fuse_ino_t number, int mode, off_t offset, off_t length, fuse_file_info* info) {
  if (control::owns(number)) {
    fuse_reply_err(req, ENOTSUP);
    return;
  }
  Request request(req, Kind::Change, true);
  if (request.admit()) request.answer_call(fallocate(descriptor(info), mode, offset, length));
}

void seek(fuse_req_t req, fuse_ino_t number, off_t offset, int whence, fuse_file_info* info) {
  if (control::owns(number)) {
    fuse_reply_err(req, EINVAL);
    return;
  }
  Request request(req, Kind::Query);
  if (!request.admit()) return;
  const off_t found = lseek(descriptor(info), offset, whence);
  if (found < 0) return request.answer(errno);
  request.answer_offset(found);
}

}  // namespace

void add_file_operations(fuse_lowlevel_ops& operations) {
  operations.open = open_file;
  operations.create = create_file;
  operations.read = read_file;
  operations.write = write_file;
  operations.flush = flush_file;
  operations.release = release_file;
  operations.fsync = sync_file;
  operations.fallocate = allocate;
  operations.lseek = seek;
}

}  // namespace forebay::slowfs
