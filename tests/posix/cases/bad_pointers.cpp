// Memory that is not there, may not be touched, or ends in the middle of a transfer.
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdint>
#include <cstring>

#include "cases/cases.hpp"

namespace cases {
namespace {

constexpr std::size_t kPage = 4096;

// Far from where the system puts mappings: what is unmapped there stays so, whoever else maps something.
char* pages(std::size_t count, int protection = PROT_READ | PROT_WRITE) {
  static std::uintptr_t next = 0x2'0000'0000;
  auto* const at = reinterpret_cast<void*>(next);
  next += 64 * kPage;
  return static_cast<char*>(
      ::mmap(at, count * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
}

void use(int fd, const char* what, char* memory, std::size_t size) {
  std::printf("%s\n", what);
  say("pwrite", ::pwrite(fd, memory, size, 100));
  say("pread", ::pread(fd, memory, size, 100));
  say("pread at the end", ::pread(fd, memory, size, 1 << 20));
  ::lseek(fd, 0, SEEK_SET);
  say("write", ::write(fd, memory, size));
  say("position", ::lseek(fd, 0, SEEK_CUR));
  say("read", ::read(fd, memory, size));
  say("position", ::lseek(fd, 0, SEEK_CUR));
  char good[10];
  std::memset(good, 'g', sizeof good);
  const iovec two[] = {{good, sizeof good}, {memory, size}};
  say("pwritev", ::pwritev(fd, two, 2, 5000));
  say("preadv", ::preadv(fd, two, 2, 5000));
  say("nothing", ::pwrite(fd, memory, 0, 0));
}

}  // namespace

int bad_pointers() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  char text[20000];
  std::memset(text, 't', sizeof text);
  say("write", ::write(fd, text, sizeof text));

  char* const gone = pages(3);
  ::munmap(gone, 3 * kPage);
  use(fd, "null", nullptr, 10);
  use(fd, "a small number", reinterpret_cast<char*>(8), 10);
  use(fd, "the kernel's", reinterpret_cast<char*>(0xffff'8000'0000'1000), 10);
  use(fd, "not mapped", gone, 10);
  use(fd, "not mapped, several pages", gone, 2 * kPage);
  use(fd, "not to be touched", pages(1, PROT_NONE), 10);
  use(fd, "not to be written", pages(1, PROT_READ), 10);

  char* const part = pages(2);
  ::munmap(part + kPage, kPage);
  use(fd, "ends in the middle", part + kPage - 100, 200);

  char* const changing = pages(1);
  std::memset(changing, 'c', kPage);
  use(fd, "good", changing, kPage);
  ::mprotect(changing, kPage, PROT_NONE);
  use(fd, "good once", changing, kPage);
  ::mprotect(changing, kPage, PROT_READ | PROT_WRITE);
  use(fd, "good again", changing, kPage);
  ::munmap(changing, kPage);
  use(fd, "good twice", changing, kPage);

  const int end = ::open("a", O_WRONLY | O_APPEND);
  say("append", ::write(end, nullptr, 10));
  say("append", ::write(end, part + kPage - 100, 200));
  say("writev", ::writev(end, static_cast<const iovec*>(nullptr), 2));
  ::close(end);
  ::close(fd);
  show_file("a");

  const auto* const nowhere = reinterpret_cast<const char*>(gone);
  say("unlink", ::unlink(nowhere));
  say("rename", ::rename(nowhere, "b"));
  say("rename", ::rename("a", nowhere));
  say("truncate", ::truncate(nowhere, 5));
  say("open", ::open(nowhere, O_RDONLY));
  say("unlink", ::unlink(reinterpret_cast<const char*>(8)));
  say("utimensat", ::utimensat(AT_FDCWD, "a", reinterpret_cast<const timespec*>(nowhere), 0));
  show_file("a");
  return 0;
}

}  // namespace cases
