// A private Memcached server, and a connection to it that waits for each answer.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "os/fd.hpp"

namespace forebay::bench {

// Ends with this object, or with the process that made it.
class Memcached {
 public:
  // Listens on a socket in `folder`, and on nothing else.
  explicit Memcached(const std::string& folder);
  Memcached(const Memcached&) = delete;
  Memcached& operator=(const Memcached&) = delete;
  ~Memcached();
  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  std::string socket_;
  pid_t pid_ = -1;
};

class MemcachedClient {
 public:
  explicit MemcachedClient(const std::string& socket);
  void set(std::string_view key, std::string_view value);
  void get(std::string_view key);  // which must be there

 private:
  void ask(std::string_view request, std::string_view last_line);

  Fd fd_;
  std::string request_;
};

}  // namespace forebay::bench
