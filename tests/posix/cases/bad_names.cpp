// Names, times and results that lie where no memory is: the system says EFAULT, and so must whoever looks at
// them before it does.
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <utime.h>

#include <cstring>

#include "cases/cases.hpp"

namespace cases {
namespace {

constexpr std::size_t kPage = 4096;

void use_name(const char* what, const char* name) {
  std::printf("%s\n", what);
  struct stat found{};
  struct statx more{};
  timespec times[2]{};
  timeval older[2]{};
  utimbuf oldest{};
  say("open", ::open(name, O_RDONLY));
  say("openat", ::openat(AT_FDCWD, name, O_RDWR | O_CREAT | O_TRUNC, 0644));
  say("creat", ::creat(name, 0644));
  say("stat", ::stat(name, &found));
  say("lstat", ::lstat(name, &found));
  say("fstatat", ::fstatat(AT_FDCWD, name, &found, 0));
  say("fstatat, empty", ::fstatat(AT_FDCWD, name, &found, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
  say("statx", ::statx(AT_FDCWD, name, 0, STATX_BASIC_STATS, &more));
  say("access", ::access(name, F_OK));
  say("unlink", ::unlink(name));
  say("unlinkat", ::unlinkat(AT_FDCWD, name, 0));
  say("rename", ::rename(name, "b"));
  say("rename", ::rename("a", name));
  say("renameat2", ::renameat2(AT_FDCWD, "a", AT_FDCWD, name, RENAME_NOREPLACE));
  say("link", ::link(name, "b"));
  say("link", ::link("a", name));
  say("linkat", ::linkat(AT_FDCWD, name, AT_FDCWD, "b", AT_SYMLINK_FOLLOW));
  say("truncate", ::truncate(name, 5));
  say("utime", ::utime(name, &oldest));
  say("utimes", ::utimes(name, older));
  say("lutimes", ::lutimes(name, older));
  say("utimensat", ::utimensat(AT_FDCWD, name, times, 0));
  say("chmod", ::chmod(name, 04755));
  say("fchmodat", ::fchmodat(AT_FDCWD, name, 0444, 0));
  say("chdir", ::chdir(name));
  char word[] = "word";
  char* const words[] = {word, nullptr};
  char* const none[] = {nullptr};
  say("execve", ::execve(name, words, none));
  say("execveat", ::execveat(AT_FDCWD, name, words, none, 0));
}

}  // namespace

int bad_names() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "text", 4));
  auto* const two = static_cast<char*>(
      ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(two, 'x', kPage);
  ::mprotect(two + kPage, kPage, PROT_NONE);
  use_name("not to be touched", two + kPage);
  use_name("ends without an end", two + kPage - 10);
  use_name("a small number", reinterpret_cast<const char*>(8));
  use_name("none", nullptr);

  auto* const bad = two + kPage;
  // By number: the C library itself looks at these.
  say("utimes", ::syscall(SYS_utimes, "a", bad));
  say("futimesat", ::syscall(SYS_futimesat, AT_FDCWD, "a", bad));
  say("utimensat", ::utimensat(AT_FDCWD, "a", reinterpret_cast<const timespec*>(bad), 0));
  say("futimens", ::futimens(fd, reinterpret_cast<const timespec*>(bad)));
  say("stat", ::stat("a", reinterpret_cast<struct stat*>(bad)));
  say("fstat", ::fstat(fd, reinterpret_cast<struct stat*>(bad)));
  say("statx", ::statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, reinterpret_cast<struct statx*>(bad)));
  say("readv", ::readv(fd, reinterpret_cast<const iovec*>(bad), 2));
  say("pwritev2", ::pwritev2(fd, reinterpret_cast<const iovec*>(bad), 2, 0, 0));
  say("clone", ::ioctl(fd, FICLONERANGE, bad));
  say("lock", ::fcntl(fd, F_OFD_GETLK, bad));
  char word[] = "true";
  char* const words[] = {word, nullptr};
  say("execve", ::execve("/bin/true", reinterpret_cast<char* const*>(bad), words + 1));
  char* const bad_words[] = {word, bad, nullptr};
  say("execve", ::execve("/bin/true", bad_words, words + 1));
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

}  // namespace cases
