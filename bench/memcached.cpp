#include "bench/memcached.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace forebay::bench {
namespace {

Fd connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error("the path is too long for a socket: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fd.reset();
  return fd;
}

}  // namespace

Memcached::Memcached(const std::string& folder) : socket_(folder + "/memcached") {
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It refuses to run as root unless told to stay root.
    ::execlp("memcached", "memcached", "-u", ::geteuid() == 0 ? "root" : "nobody", "-s", socket_.c_str(),
             "-a", "0700", "-m", "256", "-t", "2", nullptr);
    ::_exit(127);
  }
  for (int i = 0; i < 500; ++i) {
    if (connect_to(socket_)) return;
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("memcached does not start (is it installed?)");
}

Memcached::~Memcached() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

MemcachedClient::MemcachedClient(const std::string& socket) : fd_(connect_to(socket)) {
  if (!fd_) throw std::runtime_error("cannot connect to memcached");
}

void MemcachedClient::ask(std::string_view request, std::string_view last_line) {
  if (::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    throw std::runtime_error("cannot ask memcached");
  }
  char answer[512];
  std::size_t have = 0;
  do {
    const auto n = ::recv(fd_.get(), answer + have, sizeof answer - have, 0);
    if (n <= 0) throw std::runtime_error("memcached does not answer");
    have += static_cast<std::size_t>(n);
  } while (answer[have - 1] != '\n');
  const bool found = !request.starts_with("get") || have > last_line.size();
  if (!std::string_view(answer, have).ends_with(last_line) || !found) {
    throw std::runtime_error("memcached answered " + std::string(answer, have));
  }
}

void MemcachedClient::set(std::string_view key, std::string_view value) {
  request_.assign("set ").append(key).append(" 0 0 ").append(std::to_string(value.size())).append("\r\n");
  request_.append(value).append("\r\n");
  ask(request_, "STORED\r\n");
}

void MemcachedClient::get(std::string_view key) {
  request_.assign("get ").append(key).append("\r\n");
  ask(request_, "END\r\n");
}

}  // namespace forebay::bench
