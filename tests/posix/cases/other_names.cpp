// Files whose first name goes away, with bytes that only the buffer has when their writer dies.
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "cases/cases.hpp"

namespace cases {
namespace {

void put(const char* path, const char* text) {
  const int fd = ::open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || ::write(fd, text, std::strlen(text)) < 0 || ::close(fd) != 0) say(path, -1);
}

// In a process that dies with its work unsaved.
template <class Work>
void in_one_that_dies(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  say("killed", WIFSIGNALED(status) ? 1 : 0);
}

void append(int fd, const char* text) {
  if (::write(fd, text, std::strlen(text)) < 0) say("write", -1);
}

}  // namespace

int first_names_gone() {
  put("a", "one");
  say("link", ::link("a", "b"));
  say("unlink", ::unlink("a"));
  in_one_that_dies([] { append(::open("b", O_WRONLY | O_APPEND), " two"); });

  // The name goes while the file is open by another one, or by the same.
  for (const bool same : {false, true}) {
    put(same ? "c" : "e", "one");
    say("link", same ? ::link("c", "d") : ::link("e", "f"));
    in_one_that_dies([&] {
      const int fd = ::open(same ? "c" : "f", O_WRONLY | O_APPEND);
      const int other = ::open(same ? "c" : "e", O_WRONLY | O_APPEND);
      append(fd, " two");
      say("unlink", ::unlink(same ? "c" : "e"));
      append(fd, " three");
      append(other, " four");
    });
  }

  // Another file takes the name.
  put("g", "one");
  say("link", ::link("g", "h"));
  in_one_that_dies([] {
    const int fd = ::open("g", O_WRONLY | O_APPEND);
    append(fd, " two");
    put("i", "another");
    say("rename", ::rename("i", "g"));
    append(fd, " three");
  });
  // And it is renamed by one that has it not open.
  put("k", "one");
  say("link", ::link("k", "l"));
  say("unlink", ::unlink("k"));
  in_one_that_dies([] {
    const int fd = ::open("l", O_WRONLY | O_APPEND);
    append(fd, " two");
    say("system", std::system("mv l m"));
    append(fd, " three");
  });
  return 0;
}

}  // namespace cases
