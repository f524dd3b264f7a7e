// Mappings that outlive their descriptors.
#include <sys/mman.h>

#include <cstring>

#include "cases/cases.hpp"

namespace cases {

int mapped() {
  int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  char text[10000];
  std::memset(text, 't', sizeof text);
  say("write", ::write(fd, text, sizeof text));
  auto* const all =
      static_cast<char*>(::mmap(nullptr, sizeof text, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  say("close", ::close(fd));
  all[0] = 'm';
  fd = ::open("a", O_RDWR);
  char room[4] = {};
  say("pread", ::pread(fd, room, 3, 0));
  std::printf("%s\n", room);
  say("pwrite", ::pwrite(fd, "w", 1, 1));
  std::printf("%.3s\n", all);
  all[2] = 'M';
  say("pread", ::pread(fd, room, 3, 0));
  std::printf("%s\n", room);
  say("append", ::pwrite(fd, "end", 3, sizeof text));
  say("close", ::close(fd));
  say("msync", ::msync(all, sizeof text, MS_SYNC));
  void* const moved = ::mremap(all, sizeof text, 20000, MREMAP_MAYMOVE);
  std::printf("%.3s %.3s\n", static_cast<char*>(moved), static_cast<char*>(moved) + sizeof text);
  fd = ::open("a", O_RDWR);
  say("pwrite", ::pwrite(fd, "x", 1, 0));
  std::printf("%.3s\n", static_cast<char*>(moved));
  say("munmap", ::munmap(moved, 20000));
  say("close", ::close(fd));
  // From here on nobody maps it.
  fd = ::open("a", O_RDWR | O_APPEND);
  say("write", ::write(fd, " of all", 7));
  const void* const none = ::mmap(nullptr, 100, PROT_READ, MAP_SHARED, 555, 0);
  say("no such descriptor", none == MAP_FAILED ? -1 : 0);
  const int writer = ::open("a", O_WRONLY);
  say("write only", ::mmap(nullptr, 100, PROT_READ, MAP_SHARED, writer, 0) == MAP_FAILED ? -1 : 0);
  say("close", ::close(writer));
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

}  // namespace cases
