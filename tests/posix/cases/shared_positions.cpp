// One open file that several use at the same time, and many open files in one process.
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cases/cases.hpp"

namespace cases {

// Readers at the end of the file beside writers: the position is the sum of what was written.
int read_beside_writes() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  std::atomic<bool> ends = false;
  const auto readers = [&] {
    char room[4096];
    while (!ends.load()) (void)!::read(fd, room, sizeof room);
  };
  std::thread one(readers);
  std::thread two(readers);
  constexpr long kLines = 20'000;
  long wrong = 0;
  for (long i = 0; i < kLines; ++i) wrong += ::write(fd, "0123456\n", 8) != 8;
  ends.store(true);
  one.join();
  two.join();
  say("wrong", wrong);
  // Readers take what they find, so that only what lies in the file is the same every time.
  say("at the end", ::lseek(fd, 0, SEEK_CUR) == ::lseek(fd, 0, SEEK_END) ? 1 : 0);
  say("size", ::lseek(fd, 0, SEEK_END));
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

// As many as the limit allows, each of them written.
int many_open() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 256;
  say("setrlimit", ::setrlimit(RLIMIT_NOFILE, &limit));
  std::vector<int> all;
  int wrong = 0;
  for (int i = 0; i < 220; ++i) {
    const int fd =
        ::open(("f" + std::to_string(i)).c_str(), O_RDWR | O_CREAT | (i % 3 == 0 ? O_APPEND : 0), 0644);
    if (fd < 0) {
      say("open", fd);
      break;
    }
    all.push_back(fd);
    wrong += ::write(fd, "text", 4) != 4;
  }
  say("open", static_cast<long>(all.size()));
  say("wrong", wrong);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  say("limit", static_cast<long>(limit.rlim_cur));
  if (::fork() == 0) {
    for (const int fd : all) wrong += ::pwrite(fd, "T", 1, 0) != 1;
    ::_exit(wrong);
  }
  int status = 0;
  ::wait(&status);
  say("child", status);
  for (const int fd : all) wrong += ::close(fd) != 0;
  say("wrong", wrong);
  show_file("f0");
  show_file("f1");
  show_file("f219");
  return 0;
}

// What a program finds in the C library's own handle.
int by_handle() {
  void* const library = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  const auto get = [&]<class F>(F*, const char* name) {
    return reinterpret_cast<F*>(::dlsym(library, name));
  };
  const auto write_it = get(static_cast<decltype(::write)*>(nullptr), "write");
  const auto read_it = get(static_cast<decltype(::read)*>(nullptr), "read");
  const auto close_it = get(static_cast<decltype(::close)*>(nullptr), "close");
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "0123456789", 10));
  say("write", write_it(fd, "abc", 3));
  char room[32] = {};
  ::lseek(fd, 0, SEEK_SET);
  say("read", read_it(fd, room, sizeof room - 1));
  std::printf("%s\n", room);
  say("pwrite", ::pwrite(fd, "X", 1, 2));
  struct stat found{};
  say("fstat", get(static_cast<decltype(::fstat)*>(nullptr), "fstat")(fd, &found));
  say("size", found.st_size);
  say("close", close_it(fd));
  const int other = ::open("b", O_RDWR | O_CREAT, 0644);
  say("the same number", other == fd ? 1 : 0);
  say("write", ::write(other, "b", 1));
  say("close", ::close(other));
  show_file("a");
  show_file("b");
  // Those that are found from where the caller is.
  say("next", ::dlsym(RTLD_NEXT, "write") != nullptr ? 1 : 0);
  say("default", ::dlsym(RTLD_DEFAULT, "write") != nullptr ? 1 : 0);
  say("none", ::dlsym(RTLD_DEFAULT, "no such function at all") == nullptr ? 1 : 0);
  say("error", ::dlerror() != nullptr ? 1 : 0);
  return 0;
}

}  // namespace cases
