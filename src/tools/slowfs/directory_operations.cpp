// Open directories: a handle is a stream over the source's directory.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "tools/slowfs/control.hpp"
#include "tools/slowfs/filesystem.hpp"

namespace forebay::slowfs {
namespace {

struct Stream : Handle {
  explicit Stream(DIR* opened) : directory(opened) {}
  ~Stream() override { closedir(directory); }

  DIR* const directory;
  dirent* pending = nullptr;  // read from the source, did not fit in the last answer
  off_t offset = 0;
};

Stream& stream_of(fuse_req_t req, const fuse_file_info* info) {
  return filesystem_of(req).handles.get<Stream>(info->fh);
}

void open_directory(fuse_req_t req, fuse_ino_t number, fuse_file_info* info) {
  if (control::owns(number)) {
    fuse_reply_open(req, info);
    return;
  }
  Request request(req, Kind::Query);
  Reached folder;
  if (!request.admit(number, folder)) return;
  const int fd = openat(folder.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return request.answer(errno);
  DIR* directory = fdopendir(fd);
  if (directory == nullptr) {
    const int error = errno;
    close(fd);
    return request.answer(error);
  }
  HandleSet& handles = request.filesystem().handles;
  info->fh = handles.add(std::make_unique<Stream>(directory));
  if (!request.answer_open(info)) handles.remove(info->fh);
}

void read_directory(fuse_req_t req, fuse_ino_t number, size_t size, off_t offset, fuse_file_info* info) {
  if (control::owns(number)) return control::read_directory(req, size, offset);
  Request request(req, Kind::Query);
  if (!request.admit()) return;
  Stream& stream = stream_of(req, info);
  if (offset != stream.offset) {
    seekdir(stream.directory, offset);
    stream.pending = nullptr;
    stream.offset = offset;
  }
  std::vector<char> listing(size);
  size_t used = 0;
  while (true) {
    if (stream.pending == nullptr) {
      errno = 0;
      stream.pending = readdir(stream.directory);
      if (stream.pending == nullptr) {
        if (errno != 0 && used == 0) return request.answer(errno);
        break;
      }
    }
    struct stat entry{};
    entry.st_ino = stream.pending->d_ino;
    entry.st_mode = static_cast<mode_t>(DTTOIF(stream.pending->d_type));
    const off_t next = stream.pending->d_off;
    const size_t needed =
        fuse_add_direntry(req, listing.data() + used, size - used, stream.pending->d_name, &entry, next);
    if (needed > size - used) break;
    used += needed;
    stream.pending = nullptr;
    stream.offset = next;
  }
  request.answer_data(listing.data(), used);
}

void release_directory(fuse_req_t req, fuse_ino_t number, fuse_file_info* info) {
  if (!control::owns(number)) filesystem_of(req).handles.remove(info->fh);
  fuse_reply_err(req, 0);
}

void sync_directory(fuse_req_t req, fuse_ino_t number, int /*data_only*/, fuse_file_info* info) {
  if (control::owns(number)) {
    fuse_reply_err(req, 0);
    return;
  }
  Request request(req, Kind::Fsync);
  if (!request.admit()) return;
  if (!request.filesystem().slowness.settings().sync_source) return request.answer(0);
  request.answer_call(fsync(dirfd(stream_of(req, info).directory)));
}

}  // namespace

void add_directory_operations(fuse_lowlevel_ops& operations) {
  operations.opendir = open_directory;
  operations.readdir = read_directory;
  operations.releasedir = release_directory;
  operations.fsyncdir = sync_directory;
}

}  // namespace forebay::slowfs
