#include "base/log.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.hpp"

namespace forebay {
namespace {

// Targets are immortal and chained: a line may still be on its way to the one just replaced.
struct Target {
  std::string path;
  const Target* previous;
};

constinit std::atomic<const Target*> target{nullptr};  // null: standard error

// Straight to the kernel: a preloaded door may stand in front of libc's own open and write.
int open_target(const std::string& path) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path.c_str(),
                                  O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0600));
}

}  // namespace

namespace log_detail {

// The file is opened for each line: a descriptor kept in a host program may be closed by it and come to mean
// one of its own files.
void write_line(LogLevel level, std::string_view text) {
  const int saved_errno = errno;
  std::string line =
      format_text("forebay[{}] {}: {}", getpid(), kLogLevelNames[static_cast<std::size_t>(level)], text);
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  line += '\n';

  const Target* const to = target.load(std::memory_order_acquire);
  const int fd = to == nullptr ? STDERR_FILENO : open_target(to->path);
  if (fd >= 0) {
    syscall(SYS_write, fd, line.data(), line.size());
    if (to != nullptr) syscall(SYS_close, fd);
  }
  errno = saved_errno;
}

}  // namespace log_detail

Status set_log_file(const std::string& path) {
  if (path.empty()) {
    target.store(nullptr, std::memory_order_release);
    return {};
  }
  const int fd = open_target(path);
  if (fd < 0) return fail_errno(errno, "open log file", path);
  syscall(SYS_close, fd);

  static constinit std::atomic<const Target*> newest{nullptr};
  auto* const next = new Target{path, newest.load(std::memory_order_relaxed)};
  while (!newest.compare_exchange_weak(next->previous, next)) {
  }
  target.store(next, std::memory_order_release);
  return {};
}

}  // namespace forebay
