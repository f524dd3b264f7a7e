// What kind of file system a file lies on, where that changes what may be promised.
#pragma once

#include <linux/magic.h>
#include <sys/vfs.h>

namespace forebay {

// Memory in disguise (tmpfs and its relatives): counts as memory, and forgets everything at power loss.
inline bool is_memory_file_system(int fd) {
  struct statfs found{};
  if (::fstatfs(fd, &found) != 0) return false;
  return found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC || found.f_type == HUGETLBFS_MAGIC;
}

}  // namespace forebay
