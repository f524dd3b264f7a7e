#include "door/posix/shim/homes.hpp"

#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

#include <atomic>

#include "door/posix/shim/state.hpp"

namespace forebay::posix {
namespace {

constexpr int kMaxHomes = 32;
constinit char text[8192];
constinit const char* homes[2 * kMaxHomes];
constinit unsigned long lengths[2 * kMaxHomes];
constinit int count = 0;

// Where homes lie that are named by a link: `homes` goes on with these.
constinit char real_text[8192];
constinit std::atomic<int> with_real = 0;
constinit std::atomic<int> real_known = 0;
constinit std::atomic<int> finding = 0;

// Devices of the homes, once every home was there to be asked, and of what is mounted below them, once it was
// met. A slot is taken before it counts.
constexpr int kMaxDevices = 64;
constinit std::atomic<int> devices_known = 0;
constinit std::atomic<int> device_count = 0;
constinit std::atomic<dev_t> devices[kMaxDevices];
// One that was found to lie elsewhere, by a name that begins in a folder.
constinit std::atomic<dev_t> foreign = 0;

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

int all_homes() {
  const int more = with_real.load(std::memory_order_acquire);
  return more != 0 ? more : count;
}

bool has_device(dev_t device) {
  const int known = device_count.load(std::memory_order_acquire);
  if (known > kMaxDevices) return true;
  for (int i = 0; i < known; ++i) {
    if (devices[i].load(std::memory_order_relaxed) == device) return true;
  }
  return false;
}

void add_device(dev_t device) {
  if (has_device(device)) return;
  // Two threads may both do so: one of them takes a slot in vain.
  const int at = device_count.load(std::memory_order_relaxed);
  if (at < kMaxDevices) devices[at].store(device, std::memory_order_relaxed);
  device_count.store(at + 1, std::memory_order_release);
}

// Far: no name without ".." leads from it into a home.
int place_of_working_directory() {
  const int known = working_directory.load(std::memory_order_acquire);
  if (known != kNotKnown) return known;
  char here[PATH_MAX];
  if (real.syscall(SYS_getcwd, here, sizeof here) <= 0) return kNear;
  int place = kFar;
  find_real_homes();
  for (int i = 0; i < all_homes(); ++i) {
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
  for (int i = 0; i < all_homes(); ++i) {
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

void find_real_homes() {
  if (real_known.load(std::memory_order_acquire) != 0 || finding.exchange(1) != 0) return;
  const int before = errno;
  static constinit bool found[kMaxHomes];
  static constinit unsigned long used = 0;
  bool all_there = true;
  for (int i = 0; i < count; ++i) {
    char name[PATH_MAX];
    const int fd = found[i] ? -1 : real.open(homes[i], O_PATH | O_CLOEXEC);
    const bool there = fd >= 0 && name_of(fd, name, sizeof name);
    if (fd >= 0) real.syscall(SYS_close, fd);
    found[i] = found[i] || there;
    // One that is not there yet may be a link later.
    all_there = all_there && found[i];
    if (!there || strcmp(name, homes[i]) == 0 || used + strlen(name) + 1 > sizeof real_text) continue;
    const int last = all_homes();
    homes[last] = strcpy(real_text + used, name);
    lengths[last] = strlen(name);
    used += lengths[last] + 1;
    with_real.store(last + 1, std::memory_order_release);
  }
  if (all_there) real_known.store(1, std::memory_order_release);
  finding.store(0);
  errno = before;
}

void note_home_device(dev_t device) { add_device(device); }

bool on_home_device(dev_t device) {
  if (devices_known.load(std::memory_order_acquire) == 0) {
    find_real_homes();
    for (int i = 0; i < count; ++i) {
      struct stat found;
      if (real.stat(homes[i], &found) != 0) return true;
      add_device(found.st_dev);
    }
    devices_known.store(1, std::memory_order_release);
  }
  return has_device(device);
}

bool on_home_device(dev_t device, int at, const char* path) {
  if (on_home_device(device)) return true;
  if (path == nullptr || *path == '\0') return false;
  // To ask for the folder's name each time would cost those most who walk through folders elsewhere.
  const bool by_folder = *path != '/' && at != AT_FDCWD;
  if (by_folder && foreign.load(std::memory_order_relaxed) == device) return false;
  if (may_lie_in_home(at, path)) {
    add_device(device);
    return true;
  }
  if (by_folder) foreign.store(device, std::memory_order_relaxed);
  return false;
}

bool leads_into_home(int at, const char* path) {
  // Without a link on the way it is where it seems to be.
  const int before = errno;
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  int fd = static_cast<int>(real.syscall(SYS_openat2, at, path, &how, sizeof how));
  bool leads = false;
  if (fd >= 0) {
    real.syscall(SYS_close, fd);
  } else if ((errno == ELOOP || errno == ENOSYS) && (fd = real.openat(at, path, O_PATH | O_CLOEXEC)) >= 0) {
    char name[PATH_MAX];
    leads = name_of(fd, name, sizeof name) && lies_in_home(name);
    real.syscall(SYS_close, fd);
  }
  errno = before;
  return leads;
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
