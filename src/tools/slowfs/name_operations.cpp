// Operations on names: each is the same call on the source, through the parent's descriptor.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "tools/slowfs/control.hpp"
#include "tools/slowfs/filesystem.hpp"

namespace forebay::slowfs {
namespace {

// Nothing in the control directory can be made, removed or renamed, nor can anything take its name.
bool refuse_control(fuse_req_t req, fuse_ino_t parent, const char* name) {
  if (!control::owns(parent) && control::find(parent, name) == 0) return false;
  fuse_reply_err(req, EACCES);
  return true;
}

void look_up(fuse_req_t req, fuse_ino_t parent, const char* name) {
  if (const fuse_ino_t number = control::find(parent, name); number != 0)
    return control::look_up(req, number);
  if (control::owns(parent)) {
    fuse_reply_err(req, ENOENT);
    return;
  }
  Request request(req, Kind::Lookup);
  Reached folder;
  if (request.admit(parent, folder)) request.answer_entry(folder, name);
}

void forget_one(fuse_req_t req, fuse_ino_t number, uint64_t lookups) {
  if (!control::owns(number)) filesystem_of(req).inodes.forget(inode_of(req, number), lookups);
}

void forget(fuse_req_t req, fuse_ino_t number, uint64_t lookups) {
  forget_one(req, number, lookups);
  fuse_reply_none(req);
}

void forget_multi(fuse_req_t req, size_t count, fuse_forget_data* forgets) {
  for (size_t i = 0; i < count; ++i) forget_one(req, forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(req);
}

// Runs `make` on the parent's descriptor and answers with the entry it made.
template <class Make>
void make_entry(fuse_req_t req, fuse_ino_t parent, const char* name, Make make) {
  if (refuse_control(req, parent, name)) return;
  Request request(req, Kind::Change, true);
  Reached folder;
  if (!request.admit(parent, folder)) return;
  if (make(folder.fd()) != 0) return request.answer(errno);
  request.answer_entry(folder, name);
}

void make_node(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode, dev_t device) {
  make_entry(req, parent, name, [&](int folder) { return mknodat(folder, name, mode, device); });
}

void make_directory(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode) {
  make_entry(req, parent, name, [&](int folder) { return mkdirat(folder, name, mode); });
}

void make_symlink(fuse_req_t req, const char* target, fuse_ino_t parent, const char* name) {
  make_entry(req, parent, name, [&](int folder) { return symlinkat(target, folder, name); });
}

void make_link(fuse_req_t req, fuse_ino_t number, fuse_ino_t parent, const char* name) {
  if (control::owns(number)) {
    fuse_reply_err(req, EACCES);
    return;
  }
  make_entry(req, parent, name, [&](int folder) {
    const auto file = filesystem_of(req).inodes.reach(inode_of(req, number));
    return linkat(AT_FDCWD, file.path().c_str(), folder, name, AT_SYMLINK_FOLLOW);
  });
}

void remove_entry(fuse_req_t req, fuse_ino_t parent, const char* name, int flags) {
  if (refuse_control(req, parent, name)) return;
  Request request(req, Kind::Change, true);
  Reached folder;
  if (request.admit(parent, folder)) request.answer_call(unlinkat(folder.fd(), name, flags));
}

void remove_file(fuse_req_t req, fuse_ino_t parent, const char* name) { remove_entry(req, parent, name, 0); }

void remove_directory(fuse_req_t req, fuse_ino_t parent, const char* name) {
  remove_entry(req, parent, name, AT_REMOVEDIR);
}

void rename(fuse_req_t req, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
            unsigned flags) {
  if (refuse_control(req, parent, name) || refuse_control(req, new_parent, new_name)) return;
  Request request(req, Kind::Change, true);
  Reached folder;
  Reached new_folder;
  if (!request.admit(parent, folder) || !request.reach(new_parent, new_folder)) return;
  request.answer_call(renameat2(folder.fd(), name, new_folder.fd(), new_name, flags));
}

void read_link(fuse_req_t req, fuse_ino_t number) {
  Request request(req, Kind::Query);
  Reached file;
  if (!request.admit(number, file)) return;
  std::array<char, PATH_MAX + 1> target;
  const ssize_t length = readlinkat(file.fd(), "", target.data(), target.size() - 1);
  if (length < 0) return request.answer(errno);
  target[static_cast<size_t>(length)] = '\0';
  request.answer_text(target.data());
}

}  // namespace

void add_name_operations(fuse_lowlevel_ops& operations) {
  operations.lookup = look_up;
  operations.forget = forget;
  operations.forget_multi = forget_multi;
  operations.mknod = make_node;
  operations.mkdir = make_directory;
  operations.symlink = make_symlink;
  operations.link = make_link;
  operations.unlink = remove_file;
  operations.rmdir = remove_directory;
  operations.rename = rename;
  operations.readlink = read_link;
}

}  // namespace forebay::slowfs
