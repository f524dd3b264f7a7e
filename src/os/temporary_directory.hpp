// For tests: a private directory of a random name, removed with everything in it at the end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "os/fd.hpp"
#include "os/private_file.hpp"

namespace forebay {

class TemporaryDirectory {
 public:
  // A test program runs in its build directory, which lies on a real disk more often than /tmp does.
  explicit TemporaryDirectory(const std::string& parent = ".")
      : path_(std::filesystem::canonical(parent) / "test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a directory in " + parent);
    fd_ = open_private_directory(path_).value();
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const Fd& fd() const { return fd_; }

 private:
  std::string path_;
  Fd fd_;
};

}  // namespace forebay
