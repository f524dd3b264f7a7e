#include "config/machine.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>

#include "base/format.hpp"
#include "base/real_path.hpp"

namespace forebay {
namespace {

Result<Space> space_of(const std::string& directory) {
  struct stat status{};
  if (stat(directory.c_str(), &status) != 0) return fail_errno(errno, "use directory", directory);
  if (!S_ISDIR(status.st_mode)) return fail_errno(ENOTDIR, "use directory", directory);
  if (faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return fail_errno(errno, "write to directory", directory);
  }
  struct statfs info{};
  if (statfs(directory.c_str(), &info) != 0) return fail_errno(errno, "measure directory", directory);
  return Space{
      .free = static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize),
      .in_memory = info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC,
  };
}

// The number in a control group's limit file; "max" or nothing there is no limit.
std::uint64_t read_limit(const std::string& path) {
  std::uint64_t limit = 0;
  return std::ifstream(path) >> limit ? limit : UINT64_MAX;
}

// Pages of a tmpfs count for the group of whoever touched them first, so a limit of the group is as hard as
// one of the machine. The limits of its parents hold too.
std::uint64_t group_limit(std::string group, std::string_view root, std::string_view file) {
  std::uint64_t limit = UINT64_MAX;
  while (true) {
    limit = std::min(limit, read_limit(format_text("{}{}/{}", root, group, file)));
    if (group.empty()) return limit;
    group.resize(std::min(group.rfind('/'), group.size() - 1));
  }
}

std::uint64_t memory_limit() {
  std::uint64_t limit = UINT64_MAX;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/user.slice" in version 2, "4:memory:/job" in version 1
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) limit = std::min(limit, group_limit(group, "/sys/fs/cgroup", "memory.max"));
    if (controllers == "memory") {
      limit = std::min(limit, group_limit(group, "/sys/fs/cgroup/memory", "memory.limit_in_bytes"));
    }
  }
  return limit;
}

}  // namespace

Machine Machine::current() {
  struct sysinfo info{};
  sysinfo(&info);
  return {
      .memory = std::min(static_cast<std::uint64_t>(info.totalram) * info.mem_unit, memory_limit()),
      .user = geteuid(),
      .space = space_of,
      .real_path = forebay::real_path,
  };
}

Machine Machine::names_only() {
  Machine machine;
  machine.user = geteuid();
  machine.real_path = forebay::real_path;
  return machine;
}

}  // namespace forebay
