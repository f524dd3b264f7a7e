#include "bench/scratch.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace forebay::bench {
namespace {

std::string make_folder(const std::string& pattern) {
  std::string path = pattern;
  if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + pattern);
  return path;
}

}  // namespace

Scratch::Scratch(const std::string& disk)
    : memory_(make_folder("/dev/shm/forebay-bench-XXXXXX")), disk_(make_folder(disk + "/scratch-XXXXXX")) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  remover_ = ::fork();
  if (remover_ == 0) {
    // What interrupts the run must not interrupt the tidying.
    ::setsid();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
    ::close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    std::error_code ignored;
    std::filesystem::remove_all(memory_, ignored);
    std::filesystem::remove_all(disk_, ignored);
    ::_exit(0);
  }
  ::close(ends[0]);
  alive_.reset(ends[1]);
}

Scratch::~Scratch() {
  alive_.reset();
  if (remover_ > 0) ::waitpid(remover_, nullptr, 0);
}

std::string Scratch::fresh(const std::string& parent, const std::string& name) {
  return make_folder(parent + "/" + name + "-XXXXXX");
}

}  // namespace forebay::bench
