#include "support/owner.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>
#include <string>

#include "os/fd.hpp"

namespace forebay::testing {
namespace {

[[noreturn]] void live(const Settings& settings, const std::function<void(Buffer&)>& work,
                       AttachOptions options, int ready, int leave) {
  ::alarm(300);  // never longer than the test
  std::string words = "+";
  std::unique_ptr<Buffer> buffer;
  try {
    auto attached = Buffer::attach(settings, options);
    if (!attached) throw std::runtime_error(attached.error().message);
    buffer = std::move(*attached);
    work(*buffer);
  } catch (const std::exception& error) {
    words = error.what();
  }
  [[maybe_unused]] auto ignored = ::write(ready, words.data(), words.size());
  ::close(ready);
  char byte = 0;
  ignored = ::read(leave, &byte, 1);
  buffer.reset();
  ::_exit(0);
}

}  // namespace

Owner::Owner(const Settings& settings, const std::function<void(Buffer&)>& work, AttachOptions options) {
  int ready[2];
  int leave[2];
  if (::pipe2(ready, O_CLOEXEC) != 0 || ::pipe2(leave, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  if (pid_ == 0) {
    ::close(ready[0]);
    ::close(leave[1]);
    live(settings, work, options, ready[1], leave[0]);
  }
  ::close(ready[1]);
  ::close(leave[0]);
  to_ = leave[1];
  const Fd from(ready[0]);
  char words[500];
  const auto n = ::read(from.get(), words, sizeof words);
  if (n > 0 && words[0] == '+') return;
  const std::string said(words, n > 0 ? static_cast<std::size_t>(n) : 0);
  kill();
  throw std::runtime_error("the other process: " + said);
}

void Owner::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(to_);
  pid_ = -1;
}

void Owner::leave() {
  if (pid_ <= 0) return;
  // Its end of the pipe alone would not tell it: owners that were started later have that too.
  [[maybe_unused]] const auto told = ::write(to_, "", 1);
  ::close(to_);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace forebay::testing
