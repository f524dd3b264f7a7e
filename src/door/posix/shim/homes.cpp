#include "door/posix/shim/homes.hpp"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include <atomic>

#include "door/posix/shim/state.hpp"

namespace forebay::posix {
namespace {

constexpr int kMaxHomes = 32;
constinit char text[8192];
constinit const char* homes[kMaxHomes];
constinit unsigned long lengths[kMaxHomes];
constinit int count = 0;

// Devices of the homes, once every home was there to be asked.
constinit std::atomic<int> devices_known = 0;
constinit std::atomic<dev_t> devices[kMaxHomes];

// Where the working directory lies, as far as relative names go.
enum Place : int { kNotKnown, kFar, kNear };
constinit std::atomic<int> working_directory = kNotKnown;

bool below(const char* path, const char* directory, unsigned long length) {
  return strncmp(path, directory, length) == 0 &&
         (path[length] == '/' || path[length] == '\0' || length == 1);
}

// Appends the parts of `path` to the normal name in `out`.
bool append_parts(char* out, unsigned long& used, unsigned long size, const char* path) {
  while (*path != '\0') {
    while (*path == '/') ++path;
    const char* end = path;
    while (*end != '\0' && *end != '/') ++end;
    const auto length = static_cast<unsigned long>(end - path);
    if (length == 2 && path[0] == '.' && path[1] == '.') {
      while (used > 0 && out[--used] != '/') {
      }
    } else if (length != 0 && !(length == 1 && path[0] == '.')) {
      if (used + length + 2 > size) return false;
      out[used++] = '/';
      memcpy(out + used, path, length);
      used += length;
    }
    path = end;
  }
  return true;
}

// Far: no name without ".." leads from it into a home.
int place_of_working_directory() {
  const int known = working_directory.load(std::memory_order_acquire);
  if (known != kNotKnown) return known;
  char here[PATH_MAX];
  if (real.syscall(SYS_getcwd, here, sizeof here) <= 0) return kNear;
  int place = kFar;
  for (int i = 0; i < count; ++i) {
    if (below(here, homes[i], lengths[i]) || below(homes[i], here, strlen(here))) place = kNear;
  }
  // The child of a vfork may be elsewhere than its parent, whose memory this is.
  if (!in_vfork_child()) working_directory.store(place, std::memory_order_release);
  return place;
}

bool has_parent_step(const char* path) {
  for (const char* at = strstr(path, ".."); at != nullptr; at = strstr(at + 1, "..")) {
    if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0')) return true;
  }
  return false;
}

}  // namespace

// Without the C library: see start() in state.cpp.
bool set_homes(const char* list) {
  if (list == nullptr) return false;
  unsigned long used = 0;
  while (count < kMaxHomes) {
    char* const item = text + used;
    unsigned long length = 0;
    for (; *list != '\0' && *list != ':'; ++list) {
      if (used + length + 1 >= sizeof text) return false;
      item[length++] = *list;
    }
    used += length + 1;
    while (length > 1 && item[length - 1] == '/') --length;
    item[length] = '\0';
    if (*item == '/') {
      homes[count] = item;
      lengths[count++] = length;
    }
    if (*list == '\0' || used >= sizeof text) break;
    ++list;
  }
  return count != 0;
}

bool lies_in_home(const char* path) {
  for (int i = 0; i < count; ++i) {
    if (below(path, homes[i], lengths[i])) return true;
  }
  return false;
}

bool absolute_name(int at, const char* path, char* out, unsigned long size) {
  unsigned long used = 0;
  if (*path != '/') {
    char base[PATH_MAX];
    if (at == AT_FDCWD) {
      if (real.syscall(SYS_getcwd, base, sizeof base) <= 0) return false;
    } else if (!name_of(at, base, sizeof base)) {
      return false;
    }
    if (!append_parts(out, used, size, base)) return false;
  }
  if (!append_parts(out, used, size, path)) return false;
  if (used == 0) out[used++] = '/';
  out[used] = '\0';
  return true;
}

bool may_lie_in_home(int at, const char* path) {
  if (path == nullptr) return false;
  const bool steps = has_parent_step(path);
  if (*path == '/' && !steps && strstr(path, "//") == nullptr && strstr(path, "/./") == nullptr)
    return lies_in_home(path);
  if (*path != '/' && at == AT_FDCWD && !steps && place_of_working_directory() == kFar) return false;
  char name[PATH_MAX];
  return absolute_name(at, path, name, sizeof name) && lies_in_home(name);
}

bool on_home_device(dev_t device) {
  if (devices_known.load(std::memory_order_acquire) == 0) {
    for (int i = 0; i < count; ++i) {
      struct stat found;
      if (real.stat(homes[i], &found) != 0) return true;
      devices[i].store(found.st_dev, std::memory_order_relaxed);
    }
    devices_known.store(1, std::memory_order_release);
  }
  for (int i = 0; i < count; ++i) {
    if (devices[i].load(std::memory_order_relaxed) == device) return true;
  }
  return false;
}

void directory_changed() { working_directory.store(kNotKnown, std::memory_order_release); }

bool name_of(int fd, char* path, unsigned long size) {
  // "/proc/self/fd/" and a number, without the C library's formatting.
  char link[40] = "/proc/self/fd/";
  char digits[12];
  int length = 0;
  for (unsigned value = static_cast<unsigned>(fd); length == 0 || value != 0; value /= 10)
    digits[length++] = static_cast<char>('0' + value % 10);
  char* to = link + strlen(link);
  while (length > 0) *to++ = digits[--length];
  *to = '\0';
  const auto n = ::readlink(link, path, size - 1);
  if (n <= 0) return false;
  path[n] = '\0';
  return path[0] == '/';
}

}  // namespace forebay::posix
