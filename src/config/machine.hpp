// What the default sizes depend on. A plain value, so that tests can make up a machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace forebay {

// A directory's file system, as this user sees it.
struct Space {
  std::uint64_t free = 0;
  bool in_memory = false;  // tmpfs and the like
};

struct Machine {
  std::uint64_t memory = 0;  // bytes this process may use: the machine's, or its control group's limit
  std::uint32_t user = 0;
  // ENOENT, ENOTDIR, EACCES (not writable) or what else is wrong with the directory.
  std::function<Result<Space>(const std::string& directory)> space;
  // The path with links resolved, as far as it exists.
  std::function<std::string(const std::string& path)> real_path = std::identity{};

  static Machine current();
  // Without the memory, for which files of the system are read, and without the function that tells space.
  static Machine names_only();
};

}  // namespace forebay
