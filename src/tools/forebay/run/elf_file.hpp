// The few things about an ELF file of this machine that its headers tell.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace forebay {

struct ElfFile {
  std::string loader{};  // PT_INTERP; empty: linked statically, or a library
  bool dynamic = false;  // has PT_DYNAMIC
  std::vector<std::string> needed{};
  bool has_paths = false;  // says by itself where libraries lie (DT_RPATH, DT_RUNPATH)
};

// ENOEXEC: no ELF file, of another machine, or damaged.
Result<ElfFile> read_elf(const std::string& path);

}  // namespace forebay
