// The shared libraries that the loader would load at a program's start.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/forebay/run/elf_file.hpp"

namespace forebay {

// Their names, found as the loader finds them where nothing but its cache says where libraries lie. Nothing
// where anything else has a say: a path in the program or in a library, variables, another loader.
std::optional<std::vector<std::string>> libraries_by_cache(const ElfFile& program);

// The loader is asked, in a process of its own. Empty when it does not answer.
std::vector<std::string> libraries_by_loader(const std::string& loader, const std::string& path);

}  // namespace forebay
