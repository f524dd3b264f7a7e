#include "door/posix/shim/own_descriptors.hpp"

#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "door/posix/shim/state.hpp"

namespace forebay::posix {

constinit std::atomic<int> own_count = 0;

namespace {

constexpr int kUsual = 900;
constexpr int kRoom = 16;  // for ours at the end of a table that is not to grow

constinit std::atomic<int> chosen = 0;

constexpr int kNear = 16;  // so many of ours take numbers that the program might use
constinit pthread_mutex_t limit_guard = PTHREAD_MUTEX_INITIALIZER;

// The kernel looks at the limit of open files when it gives a number, and at no other time. While this lives
// numbers beyond the program's limit can be had, up to the hard one: so the program has its own for itself.
class BeyondLimit {
 public:
  BeyondLimit() {
    ::pthread_mutex_lock(&limit_guard);
    rlimit more{};
    if (::getrlimit(RLIMIT_NOFILE, &limit_) != 0 || limit_.rlim_cur >= kDescriptors / 2 ||
        limit_.rlim_max <= limit_.rlim_cur)
      return;
    more = {limit_.rlim_max < kDescriptors ? limit_.rlim_max : kDescriptors, limit_.rlim_max};
    if (real.setrlimit(RLIMIT_NOFILE, &more) == 0) from_ = static_cast<int>(limit_.rlim_cur);
  }
  BeyondLimit(const BeyondLimit&) = delete;
  BeyondLimit& operator=(const BeyondLimit&) = delete;
  ~BeyondLimit() {
    const int before = errno;
    if (from_ != 0) real.setrlimit(RLIMIT_NOFILE, &limit_);
    ::pthread_mutex_unlock(&limit_guard);
    errno = before;
  }
  // The first of these numbers. 0: there are none.
  [[nodiscard]] int from() const { return from_; }

 private:
  rlimit limit_{};
  int from_ = 0;
};

// How long the kernel's table is. 0: nobody knows.
int table_length() {
  char text[1024];
  const int before = errno;
  const int fd = real.open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? -1 : real.read(fd, text, sizeof text - 1);
  if (fd >= 0) real.syscall(SYS_close, fd);
  errno = before;
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* at = strstr(text, "\nFDSize:");
  if (at == nullptr) return 0;
  at += strlen("\nFDSize:");
  while (*at == ' ' || *at == '\t') ++at;
  int length = 0;
  for (; *at >= '0' && *at <= '9' && length < kDescriptors; ++at) length = length * 10 + (*at - '0');
  return length;
}

}  // namespace

int choose_own_descriptors() {
  rlimit limit{};
  int usual = 512;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    usual = limit.rlim_cur / 2 < kUsual ? static_cast<int>(limit.rlim_cur / 2) : kUsual;
  // Looked for here, and not by the loader in every process of a tree.
  const auto* const single = static_cast<const char*>(::dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
  if (single == nullptr || *single != 0) return usual;
  const int length = table_length();
  return length > kRoom && length <= usual ? length - kRoom : usual;
}

int own_from() {
  int from = chosen.load(std::memory_order_relaxed);
  if (from != 0) return from;
  const int wanted = choose_own_descriptors();
  // Two threads may both do so: what one has said stands.
  return chosen.compare_exchange_strong(from, wanted, std::memory_order_relaxed) ? wanted : from;
}

namespace {

// Where it is in nobody's way. -1: there is no such place, or it is there.
int duplicate_beyond(int fd, int from) {
  if (own_count.load(std::memory_order_relaxed) < kNear) return -1;
  const BeyondLimit beyond;
  if (beyond.from() == 0 || from >= beyond.from()) return -1;
  return static_cast<int>(real.fcntl(fd, F_DUPFD_CLOEXEC, beyond.from()));
}

}  // namespace

int duplicate_own(int fd, int from) {
  if (from < own_from()) from = own_from();
  const int high = duplicate_beyond(fd, from);
  return high >= 0 ? high : static_cast<int>(real.fcntl(fd, F_DUPFD_CLOEXEC, from));
}

int raise_own(int fd) {
  if (fd < 0 || !active.load(std::memory_order_relaxed)) return fd;
  const int before = errno;
  const int high = fd < own_from() ? duplicate_own(fd, 0) : duplicate_beyond(fd, fd);
  if (high >= 0) {
    real.syscall(SYS_close, fd);
    fd = high;
  }
  errno = before;
  note_own(fd);
  return fd;
}

int open_own(int at, const char* path, int flags, mode_t mode) {
  const int fd = real.openat(at, path, flags, mode);
  if (fd >= 0 || errno != EMFILE) return fd;
  const BeyondLimit beyond;
  if (beyond.from() != 0) return real.openat(at, path, flags, mode);
  errno = EMFILE;
  return -1;
}

void own_in_child() {
  limit_guard = PTHREAD_MUTEX_INITIALIZER;
  own_count.store(0);
}

}  // namespace forebay::posix
