// Handlers that read and write files, that do not come back, and that end the program: whatever the program
// was doing when their signal came.
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "cases/cases.hpp"

namespace cases {
namespace {

constexpr std::size_t kSize = 200'000;
constexpr int kEnough = 150;

volatile sig_atomic_t signals = 0;
volatile sig_atomic_t wrong = 0;
int fd = -1;
int other = -1;

void every(suseconds_t microseconds) {
  const timeval step{0, microseconds};
  const itimerval timer{step, step};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(number, &action, nullptr);
}

// Its own part of the file that is being written, and one that grows.
void write_and_read(int) {
  if (signals >= kEnough) return;
  const int before = errno;
  char text[8] = "text";
  char back[8] = "";
  text[0] = static_cast<char>('a' + signals % 26);
  if (::pwrite(fd, text, 8, kSize + 100) != 8) wrong = wrong + 1;
  if (::pread(fd, back, 8, kSize + 100) != 8 || std::memcmp(text, back, 8) != 0) wrong = wrong + 1;
  if (::write(other, text, 4) != 4) wrong = wrong + 1;
  struct stat found{};
  if (::fstat(other, &found) != 0 || found.st_size != 4 * (signals + 1)) wrong = wrong + 1;
  if (signals % 16 == 0 && ::fsync(other) != 0) wrong = wrong + 1;
  signals = signals + 1;
  if (signals == kEnough) every(0);
  errno = before;
}

// Everything that takes the engine's locks.
void turn_of_work(std::vector<char>& data, int turn) {
  std::memset(data.data(), 'a' + turn % 26, kSize);
  if (::pwrite(fd, data.data(), kSize, 0) != static_cast<ssize_t>(kSize)) wrong = wrong + 1;
  if (::pread(fd, data.data(), kSize, 0) != static_cast<ssize_t>(kSize)) wrong = wrong + 1;
  if (data[0] != 'a' + turn % 26 || data[kSize - 1] != data[0]) wrong = wrong + 1;
  if (turn % 8 == 0 && ::fsync(fd) != 0) wrong = wrong + 1;
  if (turn % 4 == 0) {
    const int third = ::open("c", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (::write(third, data.data(), 1000) != 1000 || ::ftruncate(third, 10) != 0) wrong = wrong + 1;
    if (::close(third) != 0 || ::rename("c", "d") != 0 || ::unlink("d") != 0) wrong = wrong + 1;
  }
}

}  // namespace

int handlers_that_write() {
  fd = ::open("a", O_RDWR | O_CREAT, 0644);
  other = ::open("b", O_RDWR | O_CREAT | O_APPEND, 0644);
  handle(SIGALRM, write_and_read, SA_RESTART);
  std::vector<char> data(kSize);
  every(700);
  int turn = 0;
  for (; signals < kEnough && turn < 100'000; ++turn) turn_of_work(data, turn);
  turn_of_work(data, 25);
  say("signals", signals);
  say("wrong", wrong);
  say("close", ::close(fd));
  say("close", ::close(other));
  show_file("b");
  const int again = ::open("a", O_RDONLY);
  say("size", ::lseek(again, 0, SEEK_END));
  say("read", ::pread(again, data.data(), kSize, 0));
  say("first", data[0]);
  say("last", data[kSize - 1]);
  ::close(again);
  return 0;
}

namespace {

sigjmp_buf start;

void jump(int) {
  if (signals >= kEnough) return;
  signals = signals + 1;
  siglongjmp(start, 1);
}

}  // namespace

// A write is whole then or was not begun, and nothing stays locked.
int handlers_that_jump() {
  fd = ::open("a", O_RDWR | O_CREAT, 0644);
  handle(SIGALRM, jump, 0);
  static std::vector<char> data(kSize);
  static volatile int turn = 0;
  every(900);
  sigsetjmp(start, 1);
  while (signals < kEnough && turn < 100'000) {
    turn = turn + 1;
    std::memset(data.data(), 'a' + turn % 26, kSize);
    if (::pwrite(fd, data.data(), kSize, 0) != static_cast<ssize_t>(kSize)) wrong = wrong + 1;
    if (turn % 8 == 0) ::fsync(fd);
    if (turn % 16 == 0) ::ftruncate(fd, 1000);
  }
  every(0);
  handle(SIGALRM, SIG_IGN, 0);
  say("signals", signals);
  say("wrong", wrong);
  say("pwrite", ::pwrite(fd, std::vector<char>(kSize, 'z').data(), kSize, 0));
  say("ftruncate", ::ftruncate(fd, kSize));
  say("fsync", ::fsync(fd));
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

// They leave the program while it is in the middle of a call: nothing that was written is missing.
int handlers_that_exit() {
  auto* const written = static_cast<volatile long*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int turn = 0; turn < 30; ++turn) {
    *written = 0;
    ::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      fd = ::open("a", O_RDWR | O_CREAT | O_TRUNC, 0644);
      handle(SIGALRM, turn % 2 == 0 ? [](int) { ::_exit(5); } : [](int) { std::exit(6); }, 0);
      every(500 + turn * 300);
      const std::vector<char> data(10'000, 'x');
      for (;;) {
        if (::write(fd, data.data(), data.size()) == 10'000) *written = *written + 1;
        if (*written % 100 == 0) ::fsync(fd);
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    struct stat found{};
    ::stat("a", &found);
    const long blocks = found.st_size / 10'000;
    // The handler comes between a write and its count.
    const bool good = found.st_size % 10'000 == 0 && (blocks == *written || blocks == *written + 1);
    std::printf("%d: status %x, %s\n", turn, status, good ? "all there" : "not all there");
  }
  ::unlink("a");
  fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  return 0;
}

namespace {

void nothing(int) {}
void with_more(int, siginfo_t* info, void*) { signals = info->si_value.sival_int; }

void show_action(const char* what, int number) {
  struct sigaction action{};
  say(what, ::sigaction(number, nullptr, &action));
  const char* const handler = action.sa_handler == SIG_DFL       ? "default"
                              : action.sa_handler == SIG_IGN     ? "ignored"
                              : action.sa_handler == nothing     ? "nothing"
                              : action.sa_sigaction == with_more ? "with more"
                                                                 : "somebody's";
  std::printf("  %s, flags %x, blocks %d\n", handler, static_cast<unsigned>(action.sa_flags) & ~0x04000000U,
              sigismember(&action.sa_mask, SIGUSR2));
}

const char* name_of(void (*handler)(int)) {
  return handler == nothing   ? "nothing"
         : handler == SIG_DFL ? "default"
         : handler == SIG_ERR ? "error"
                              : "another";
}

}  // namespace

// What a program is told about its own handlers.
int handlers_told() {
  fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  show_action("at first", SIGUSR1);
  struct sigaction action{};
  action.sa_handler = nothing;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  sigaddset(&action.sa_mask, SIGUSR2);
  say("sigaction", ::sigaction(SIGUSR1, &action, nullptr));
  show_action("set", SIGUSR1);
  say("raise", ::raise(SIGUSR1));
  show_action("reset", SIGUSR1);
  action.sa_sigaction = with_more;
  action.sa_flags = SA_SIGINFO;
  say("sigaction", ::sigaction(SIGRTMIN, &action, nullptr));
  show_action("set", SIGRTMIN);
  say("sigqueue", ::sigqueue(::getpid(), SIGRTMIN, sigval{.sival_int = 77}));
  say("value", signals);
  std::printf("%s\n", name_of(::signal(SIGUSR1, nothing)));
  show_action("signal", SIGUSR1);
  std::printf("%s\n", name_of(::signal(SIGUSR1, SIG_DFL)));
  say("siginterrupt", ::siginterrupt(SIGUSR1, 1));
  std::printf("%s\n", name_of(::signal(SIGUSR1, nothing)));
  show_action("interrupting", SIGUSR1);
  std::printf("%s\n", name_of(::sysv_signal(SIGUSR1, nothing)));
  show_action("as System V", SIGUSR1);
  std::printf("%s\n", name_of(::signal(SIGKILL, nothing)));
  std::printf("%s\n", name_of(::signal(999, nothing)));
  say("sigaction", ::sigaction(SIGSTOP, &action, nullptr));
  say("sigaction", ::sigaction(0, &action, nullptr));
  // In a child they are the parent's; in another program they are none.
  const pid_t child = ::fork();
  if (child == 0) {
    show_action("forked", SIGUSR1);
    ::fflush(stdout);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  // Waiting for a lock ends with a signal.
  int ends[2];
  if (::pipe(ends) != 0) return 1;
  const pid_t holder = ::fork();
  struct flock lock{};
  lock.l_type = F_WRLCK;
  if (holder == 0) {
    const int own = ::open("a", O_RDWR);
    ::fcntl(own, F_SETLK, &lock);
    ::flock(own, LOCK_EX);
    char one = 'x';
    if (::write(ends[1], &one, 1) != 1) ::_exit(1);
    ::pause();
  }
  char one = 0;
  say("holder", ::read(ends[0], &one, 1));
  handle(SIGALRM, nothing, 0);
  every(20'000);
  say("F_SETLKW", ::fcntl(fd, F_SETLKW, &lock));
  say("flock", ::flock(fd, LOCK_EX));
  say("lockf", ::lockf(fd, F_LOCK, 0));
  every(0);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  say("close", ::close(fd));
  return 0;
}

namespace {

constexpr int kInherited = 40;

void last_words(int) {
  [[maybe_unused]] const auto n = ::write(kInherited, "last words\n", 11);
  ::_exit(9);
}

}  // namespace

// The program that crashed() starts: what it inherited is used first by a handler on a stack of its own.
int crashing() {
  static char room[16'384];
  stack_t stack{};
  stack.ss_sp = room;
  stack.ss_size = sizeof room;
  ::sigaltstack(&stack, nullptr);
  handle(SIGSEGV, last_words, SA_ONSTACK);
  return ::raise(SIGSEGV);
}

int crashed() {
  fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "before\n", 7));
  ::dup2(fd, kInherited);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "posix_cases", "crashing", static_cast<char*>(nullptr));
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  say("status", status);
  show_file("a");
  say("write", ::write(fd, "after\n", 6));
  say("close", ::close(fd));
  ::close(kInherited);
  show_file("a");
  return 0;
}

}  // namespace cases
