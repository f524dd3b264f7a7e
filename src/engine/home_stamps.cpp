#include "engine/home_stamps.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/format.hpp"
#include "os/own_io.hpp"

namespace forebay {

FileSystem file_system_of(std::string_view mounts, std::uint64_t device) {
  const auto wanted = format_text(" {}:{} ", device >> 32, device & 0xffff'ffff);
  const auto at = mounts.find(wanted);
  if (at == std::string_view::npos) return FileSystem::kOther;
  const auto line = mounts.substr(at, mounts.find('\n', at) - at);
  const auto type = line.find(" - ");
  if (type == std::string_view::npos) return FileSystem::kOther;
  const auto name = line.substr(type + 3);
  if (name.starts_with("tmpfs ") || name.starts_with("ramfs ")) return FileSystem::kMemory;
  return name.starts_with("fuse") || name.starts_with("nfs") ? FileSystem::kRemembers : FileSystem::kOther;
}

HomeStamps::Kind HomeStamps::kind(std::uint64_t device) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = kinds_.find(device); found != kinds_.end()) return found->second;
  }
  const OwnIo own;
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string text(std::istreambuf_iterator<char>(mounts), {});
  const std::scoped_lock lock(mutex_);
  return kinds_.try_emplace(device, Kind{file_system_of(text, device)}).first->second;
}

Result<HomeStamp> HomeStamps::just_answered(int fd, std::string_view path) {
  FOREBAY_ASSIGN(const auto remembered, stamp_of(fd, path, AT_STATX_DONT_SYNC));
  const auto device = remembered.identity.device;
  const auto known = kind(device);
  if (known.system == FileSystem::kRemembers && known.tells_birth == remembered.birth_told) return remembered;
  FOREBAY_ASSIGN(const auto asked, stamp_of(fd, path));
  if (!known.tells_birth) {
    const std::scoped_lock lock(mutex_);
    kinds_[device].tells_birth = asked.birth_told;
  }
  return asked;
}

FileSystem HomeStamps::file_system(int fd) {
  const auto found = stamp_of(fd, "an open file", AT_STATX_DONT_SYNC);
  return found ? kind(found->identity.device).system : FileSystem::kOther;
}

}  // namespace forebay
