#include "door/posix/shim/own_descriptors.hpp"

#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "door/posix/shim/state.hpp"

namespace forebay::posix {
namespace {

constexpr int kUsual = 900;
constexpr int kRoom = 16;  // for ours at the end of a table that is not to grow

constinit std::atomic<int> chosen = 0;

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

int raise_own(int fd) {
  if (fd < 0 || !active.load(std::memory_order_relaxed)) return fd;
  if (const int from = own_from(); fd < from) {
    const int before = errno;
    const int high = static_cast<int>(real.fcntl(fd, F_DUPFD_CLOEXEC, from));
    if (high >= 0) {
      real.syscall(SYS_close, fd);
      fd = high;
    }
    errno = before;
  }
  note_own(fd);
  return fd;
}

}  // namespace forebay::posix
