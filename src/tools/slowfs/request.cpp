#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>

#include "tools/slowfs/filesystem.hpp"

namespace forebay::slowfs {
namespace {

// Whether a SIGKILL, or a signal that became one, waits for this thread. The kernel tells a file system of
// any signal, but a file operation may only end early when its caller is not going to see it.
bool is_being_killed(pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigPnd:") && !line.starts_with("ShdPnd:")) continue;
    constexpr uint64_t kKillBit = 1U << (SIGKILL - 1);
    if ((std::stoull(line.substr(7), nullptr, 16) & kKillBit) != 0) return true;
  }
  return false;
}

}  // namespace

Inode& inode_of(fuse_req_t req, fuse_ino_t number) {
  if (number == FUSE_ROOT_ID) return filesystem_of(req).inodes.root();
  return *reinterpret_cast<Inode*>(number);
}

Request::Request(fuse_req_t req, Kind kind, bool changes)
    : req_(req),
      filesystem_(filesystem_of(req)),
      kind_(kind),
      changes_(changes),
      arrival_(Slowness::Clock::now()) {
  filesystem_.statistics.begin(kind);
}

bool Request::abandoned() const {
  if (fuse_session_exited(filesystem_.session) != 0) return true;
  return fuse_req_interrupted(req_) != 0 && is_being_killed(fuse_req_ctx(req_)->pid);
}

bool Request::admit() {
  const int error = filesystem_.slowness.admit(kind_, changes_, [this] { return abandoned(); });
  arrival_ = Slowness::Clock::now();
  if (error != 0) answer(error);
  return error == 0;
}

bool Request::admit(fuse_ino_t number, Reached& file) { return admit() && reach(number, file); }

bool Request::reach(fuse_ino_t number, Reached& file) {
  file = filesystem_.inodes.reach(inode_of(req_, number));
  if (!file) answer(ESTALE);
  return static_cast<bool>(file);
}

void Request::finish(uint64_t bytes, int error) {
  // A real client caches names under a lock of the server's: only what it would ask the server for is
  // delayed.
  if (kind_ != Kind::Lookup) {
    filesystem_.slowness.pace(kind_, bytes, arrival_, [this] { return abandoned(); });
  }
  filesystem_.statistics.end(kind_, bytes, error);
}

void Request::answer(int error) {
  finish(0, error);
  fuse_reply_err(req_, error);
}

void Request::answer_call(int result) { answer(result < 0 ? errno : 0); }

void Request::answer_entry(const Reached& parent, const char* name) {
  fuse_entry_param entry{};
  auto found = filesystem_.inodes.look_up(parent, name, entry.attr);
  if (!found) return answer(found.error().code);
  entry.ino = reinterpret_cast<fuse_ino_t>(*found);
  finish(0, 0);
  if (fuse_reply_entry(req_, &entry) != 0) filesystem_.inodes.forget(**found, 1);
}

bool Request::answer_created(const Reached& parent, const char* name, fuse_file_info* info) {
  fuse_entry_param entry{};
  auto found = filesystem_.inodes.look_up(parent, name, entry.attr);
  if (!found) {
    answer(found.error().code);
    return false;
  }
  entry.ino = reinterpret_cast<fuse_ino_t>(*found);
  finish(0, 0);
  const bool received = fuse_reply_create(req_, &entry, info) == 0;
  if (!received) filesystem_.inodes.forget(**found, 1);
  return received;
}

void Request::answer_attributes(const struct stat& attributes) {
  finish(0, 0);
  fuse_reply_attr(req_, &attributes, 0);
}

bool Request::answer_open(fuse_file_info* info) {
  finish(0, 0);
  return fuse_reply_open(req_, info) == 0;
}

void Request::answer_data(const char* data, size_t size) {
  finish(size, 0);
  fuse_reply_buf(req_, data, size);
}

void Request::answer_written(size_t size) {
  finish(size, 0);
  fuse_reply_write(req_, size);
}

void Request::answer_text(const char* text) {
  finish(0, 0);
  fuse_reply_readlink(req_, text);
}

void Request::answer_size(size_t size) {
  finish(0, 0);
  fuse_reply_xattr(req_, size);
}

void Request::answer_offset(off_t offset) {
  finish(0, 0);
  fuse_reply_lseek(req_, offset);
}

void Request::answer_statfs(const struct statvfs& values) {
  finish(0, 0);
  fuse_reply_statfs(req_, &values);
}

}  // namespace forebay::slowfs
