// Files whose names change or go away: what is unsaved of them is found by the name that the buffer has.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "door/posix/door.hpp"
#include "engine/dirty_filter.hpp"
#include "session/session.hpp"

namespace forebay::posix {

// It may have no name, or one that the buffer does not know.
Pin open_here(std::uint32_t number) {
  for (int fd = 0; fd < descriptor_end(); ++fd) {
    auto open = descriptor(fd);
    if (open && open->process == fork_generation() && open->file->number() == number) return open;
  }
  return {};
}

namespace {

// As one more opener of the file, by a name that leads to it; whoever has it open as well carries the same
// bytes.
std::shared_ptr<File> open_by(Buffer& there, std::uint32_t number, const std::string& name) {
  if (name.empty()) return nullptr;
  const auto file = there.open(name, O_RDWR);
  if (!file) {
    // Without a name nobody but its users can look at it.
    if (file.error().code != ENOENT) log_warn("{} is not home yet: {}", name, file.error().message);
    return nullptr;
  }
  if ((*file)->number() == number) return *file;
  (void)(*file)->close();
  return nullptr;
}

std::shared_ptr<File> open_record(Buffer& there, std::uint32_t number, const char* name) {
  auto file = open_by(there, number, there.core().files.path(number));
  return file != nullptr || name == nullptr ? file : open_by(there, number, name);
}

long drain_record(Buffer& there, std::uint32_t number, const char* name = nullptr) {
  if (const auto open = open_here(number)) return answer(open->file->drain_all());
  const auto file = open_record(there, number, name);
  if (file == nullptr) return 0;
  const auto drained = file->drain_all();
  (void)file->close();
  return answer(drained);
}

HomeIdentity identity_of(const FileRecord& record) { return {record.device, record.inode, record.born_ns}; }

bool leads_to(const std::string& name, const FileRecord& record) {
  struct stat found{};
  return ::lstat(name.c_str(), &found) == 0 && device_of(found.st_dev) == record.device &&
         found.st_ino == record.inode;
}

// Another name by which this process has the file open.
std::string other_name(std::uint32_t number, const FileRecord& record, const std::string& name) {
  for (int fd = 0; fd < descriptor_end(); ++fd) {
    const auto open = descriptor(fd);
    if (!open || open->process != fork_generation() || open->file->number() != number) continue;
    if (auto other = name_of(fd); other != name && leads_to(other, record)) return other;
  }
  return {};
}

// Files in a folder and below, with what follows the folder's name in theirs.
std::vector<std::pair<std::uint32_t, std::string>> files_below(Buffer& there, const std::string& folder) {
  std::vector<std::pair<std::uint32_t, std::string>> found;
  auto& core = there.core();
  for (const auto number : core.files.all()) {
    const auto path = core.files.path(number);
    if (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/')
      found.emplace_back(number, path.substr(folder.size()));
  }
  return found;
}

}  // namespace

long drain_inode(unsigned long device, unsigned long inode, const char* name) {
  std::uint32_t number = 0;
  if (unsaved_record(device, inode, &number) == nullptr) return 0;
  const auto result = drain_record(*buffer(), number, name);
  return result == kPass ? 0 : result;
}

// Who has it open by the other name may write on, and die: whoever recovers would look for it in vain.
long losing_name(unsigned long device, unsigned long inode, const char* name) {
  std::uint32_t number = 0;
  const auto* const record = record_of(device, inode, &number);
  if (record == nullptr) return 0;
  auto& there = *buffer();
  auto& files = there.core().files;
  const auto drained = drain_inode(device, inode, name);
  if (drained < 0 || record->opens_hint.load() == 0 || files.path(number) != name) return drained;
  if (const auto other = other_name(number, *record, name); !other.empty()) {
    if (files.rename(identity_of(*record), other)) return 0;
  }
  note("a file whose name went, and that has others");
  if (const auto open = open_here(number)) {
    const auto result = answer(open->file->go_direct());
    return result == kPass ? 0 : result;
  }
  const auto file = open_record(there, number, name);
  if (file == nullptr) return 0;
  const auto result = answer(file->go_direct());
  (void)file->close();
  return result == kPass ? 0 : result;
}

void unlinked(const Names* file) {
  if (auto* const there = buffer())
    there->unlinked({file->device, file->inode, static_cast<std::uint64_t>(file->born_ns)});
}

void renamed(const Names* file, const char* path) {
  auto* const there = buffer();
  if (there == nullptr) return;
  const HomeIdentity identity{file->device, file->inode, static_cast<std::uint64_t>(file->born_ns)};
  if (const auto status = there->core().files.rename(identity, path); !status)
    log_warn("{}", status.error().message);
}

long drain_below(const char* folder) {
  auto* const there = buffer();
  if (there == nullptr) return 0;
  for (const auto& [number, rest] : files_below(*there, folder)) {
    const auto& record = there->core().control.file(number);
    if (!maybe_dirty(record) || (record.flags.load() & kFileBypass) != 0 || is_scratch(record)) continue;
    const auto result = drain_record(*there, number);
    if (result < 0 && result != kPass) return result;
  }
  return 0;
}

void renamed_below(const char* folder, const char* path, int exchanged) {
  auto* const there = buffer();
  if (there == nullptr) return;
  auto& core = there->core();
  // Both are found before either is renamed.
  const auto moved = files_below(*there, folder);
  const auto back = exchanged != 0 ? files_below(*there, path) : decltype(moved){};
  const auto rename = [&](const auto& files, const std::string& to) {
    for (const auto& [number, rest] : files) {
      const auto status = core.files.rename(identity_of(core.control.file(number)), to + rest);
      if (!status) log_warn("{}", status.error().message);
    }
  };
  rename(moved, path);
  rename(back, folder);
}

}  // namespace forebay::posix
