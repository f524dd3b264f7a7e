#include "base/real_path.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace forebay {

std::string real_path(const std::string& path) {
  std::error_code failed;
  auto front = std::filesystem::absolute(path, failed);
  if (failed) return path;
  std::filesystem::path rest;
  for (;;) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(front.c_str(), nullptr), std::free);
    if (real) return rest.empty() ? std::string(real.get()) : (real.get() / rest).lexically_normal().string();
    if ((errno != ENOENT && errno != ENOTDIR) || !front.has_relative_path()) return path;
    if (front.has_filename()) rest = rest.empty() ? front.filename() : front.filename() / rest;
    front = front.parent_path();
  }
}

}  // namespace forebay
