#include "tools/slowfs/control.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace forebay::slowfs::control {
namespace {

struct Name {
  const char* name;
  fuse_ino_t parent;
  fuse_ino_t number;
};

constexpr std::array kNames = {Name{".slowfs", FUSE_ROOT_ID, Directory}, Name{"control", Directory, Settings},
                               Name{"stats", Directory, Statistics}};

// What is read through one open is what was true when it was opened.
struct Snapshot : Handle {
  explicit Snapshot(std::string words) : text(std::move(words)) {}
  const std::string text;
};

}  // namespace

fuse_ino_t find(fuse_ino_t parent, std::string_view name) {
  for (const Name& known : kNames) {
    if (known.parent == parent && name == known.name) return known.number;
  }
  return 0;
}

struct stat attributes(fuse_ino_t number) {
  struct stat attributes{};
  // Far from the numbers a source would have; what is below is only its difference from the others.
  attributes.st_ino = ~ino_t{0} - number;
  attributes.st_uid = getuid();
  attributes.st_gid = getgid();
  attributes.st_nlink = number == Directory ? 2 : 1;
  attributes.st_mode =
      number == Directory ? S_IFDIR | 0700 : (number == Settings ? S_IFREG | 0600 : S_IFREG | 0400);
  return attributes;
}

void look_up(fuse_req_t req, fuse_ino_t number) {
  fuse_entry_param entry{};
  entry.ino = number;
  entry.attr = attributes(number);
  fuse_reply_entry(req, &entry);
}

void open(fuse_req_t req, fuse_ino_t number, fuse_file_info* info) {
  Filesystem& filesystem = filesystem_of(req);
  info->fh = filesystem.handles.add(std::make_unique<Snapshot>(
      number == Settings ? to_text(filesystem.slowness.settings()) : filesystem.statistics.to_json()));
  info->direct_io = 1;
  if (fuse_reply_open(req, info) != 0) filesystem.handles.remove(info->fh);
}

void read(fuse_req_t req, size_t size, off_t offset, const fuse_file_info* info) {
  const std::string& text = filesystem_of(req).handles.get<Snapshot>(info->fh).text;
  const std::string piece = text.substr(std::min(static_cast<size_t>(offset), text.size()), size);
  fuse_reply_buf(req, piece.data(), piece.size());
}

void write(fuse_req_t req, fuse_ino_t number, const char* data, size_t size) {
  if (number != Settings) {
    fuse_reply_err(req, EACCES);
    return;
  }
  Filesystem& filesystem = filesystem_of(req);
  if (const Status status = filesystem.slowness.configure({data, size}, filesystem.statistics); !status) {
    std::fprintf(stderr, "slowfs: control: %s\n", status.error().message.c_str());
    fuse_reply_err(req, status.error().code);
    return;
  }
  fuse_reply_write(req, size);
}

void release(fuse_req_t req, fuse_file_info* info) {
  filesystem_of(req).handles.remove(info->fh);
  fuse_reply_err(req, 0);
}

void read_directory(fuse_req_t req, size_t size, off_t offset) {
  std::string listing;
  for (size_t i = static_cast<size_t>(offset); i < kNames.size(); ++i) {
    if (kNames[i].parent != Directory) continue;
    const struct stat entry = attributes(kNames[i].number);
    const size_t needed = fuse_add_direntry(req, nullptr, 0, kNames[i].name, nullptr, 0);
    if (listing.size() + needed > size) break;
    const size_t start = listing.size();
    listing.resize(start + needed);
    fuse_add_direntry(req, listing.data() + start, needed, kNames[i].name, &entry, static_cast<off_t>(i + 1));
  }
  fuse_reply_buf(req, listing.data(), listing.size());
}

}  // namespace forebay::slowfs::control
