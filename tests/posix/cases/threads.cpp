// Signals in the middle of calls, and threads that are cancelled there.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <cstring>
#include <vector>

#include "cases/cases.hpp"

namespace cases {
namespace {

volatile sig_atomic_t signals = 0;
int log_file = -1;

void on_signal(int) {
  const int before = errno;
  signals = signals + 1;
  [[maybe_unused]] const auto n = ::write(log_file, ".", 1);
  errno = before;
}

void every_millisecond(bool on) {
  const timeval step{0, on ? 1000 : 0};
  const itimerval timer{step, step};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

// Calls on files are never interrupted, whatever the signal's flags say. The handler writes too.
int interrupted() {
  log_file = ::open("/dev/null", O_WRONLY);
  struct sigaction action{};
  action.sa_handler = on_signal;  // without SA_RESTART
  ::sigaction(SIGALRM, &action, nullptr);
  every_millisecond(true);
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  std::vector<char> data(256 * 1024);
  int wrong = 0;
  for (int turn = 0; turn < 2000 && (turn < 60 || signals < 20); ++turn) {
    std::memset(data.data(), 'a' + turn % 26, data.size());
    const auto at = static_cast<off_t>(turn % 16) * static_cast<off_t>(data.size());
    if (::pwrite(fd, data.data(), data.size(), at) != static_cast<ssize_t>(data.size())) ++wrong;
    if (::pread(fd, data.data(), data.size(), at) != static_cast<ssize_t>(data.size())) ++wrong;
    if (data.front() != 'a' + turn % 26 || data.back() != data.front()) ++wrong;
    if (turn % 8 == 0 && ::fsync(fd) != 0) ++wrong;
    if (turn % 16 == 0) {
      const int other = ::open("b", O_WRONLY | O_CREAT | O_TRUNC, 0644);
      if (other < 0 || ::write(other, data.data(), 1000) != 1000 || ::close(other) != 0) ++wrong;
    }
  }
  // How many turns it took is not to be seen.
  std::memset(data.data(), 'z', data.size());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, data.data(), data.size(), 0) < 0 || ::unlink("b") != 0) ++wrong;
  say("wrong", wrong);
  say("interrupted often", signals >= 20 ? 1 : 0);
  say("close", ::close(fd));
  every_millisecond(false);
  return 0;
}

namespace {

int shared_file = -1;

void* work(void*) {
  static thread_local char data[65536];
  for (off_t turn = 0;; ++turn) {
    std::memset(data, 'a' + static_cast<int>(turn % 26), sizeof data);
    if (::pwrite(shared_file, data, sizeof data, turn % 8 * 65536) < 0) break;
    if (::pread(shared_file, data, sizeof data, turn % 8 * 65536) < 0) break;
    if (turn % 16 == 0) ::fsync(shared_file);
    const int other = ::open("b", O_RDWR | O_CREAT | O_APPEND, 0644);
    if (other < 0) break;
    // A descriptor that is lost to a cancellation here is the program's own loss.
    [[maybe_unused]] const auto n = ::write(other, "x", 1);
    int ignored = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ignored);
    ::close(other);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &ignored);
  }
  return nullptr;
}

}  // namespace

// Whatever a thread was doing when it was cancelled, nothing stays locked.
int cancelled() {
  shared_file = ::open("a", O_RDWR | O_CREAT, 0644);
  int ended = 0;
  for (int turn = 0; turn < 60; ++turn) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, work, nullptr) != 0) break;
    ::usleep(static_cast<useconds_t>(turn * 37 % 2000));
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    if (result == PTHREAD_CANCELED) ++ended;
  }
  say("cancelled", ended);
  std::vector<char> data(8 * 65536, 'z');
  say("pwrite", ::pwrite(shared_file, data.data(), data.size(), 0));
  say("fsync", ::fsync(shared_file));
  say("ftruncate", ::ftruncate(shared_file, 100'000));
  say("close", ::close(shared_file));
  ::unlink("b");
  show_file("a");
  return 0;
}

namespace {

// How long the kernel's table of this process's descriptors is.
long table_length() {
  FILE* const status = std::fopen("/proc/self/status", "r");
  char line[200];
  long length = -1;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, "FDSize: %ld", &length) == 1) break;
  }
  std::fclose(status);
  return length;
}

}  // namespace

// The kernel makes a table that threads share longer only after every processor has come by: 18 ms.
int table_of_descriptors() {
  int ends[2];
  if (::pipe(ends) != 0) return 1;
  pthread_t thread;
  const auto wait = [](void* end) -> void* {
    char one = 0;
    [[maybe_unused]] const auto n = ::read(*static_cast<int*>(end), &one, 1);
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, wait, &ends[0]) != 0) return 1;
  const auto before = table_length();
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  const int other = ::open("b", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  say("write", ::write(other, "text", 4));
  say("longer table", table_length() - before);
  say("close", ::close(other));
  say("close", ::close(fd));
  ::close(ends[1]);
  pthread_join(thread, nullptr);
  show_file("a");
  return 0;
}

}  // namespace cases
