// What a command will run: found as execvp finds it, and examined without being started.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace forebay {

enum class Linking {
  kDynamic,
  kStatic,   // no preloaded library is loaded into it
  kUnknown,  // cannot be read, or is of another kind
};

struct Program {
  std::string path;      // what the kernel runs: of a script, its interpreter
  std::string script{};  // the script, if it is one
  Linking linking = Linking::kUnknown;
  bool privileged = false;  // setuid, setgid or with capabilities: the loader ignores LD_PRELOAD
  // Names of the shared libraries that the loader would load at start ("libhdf5_serial.so.310").
  std::vector<std::string> libraries{};

  [[nodiscard]] std::string name() const { return path.substr(path.rfind('/') + 1); }
  [[nodiscard]] bool needs(std::string_view library) const;
};

// The file that execvp would run for `command`, given the value of PATH. ENOENT, or EACCES if there is one
// that may not be run.
Result<std::string> find_command(const std::string& command, std::string_view path_variable);

// Never fails: what cannot be found out is left as it is. The loader's cache says which libraries there are,
// or the loader itself, which starts no code of the program (libraries.hpp).
Program examine_program(const std::string& path, std::string_view path_variable);

// DT_NEEDED of an ELF file, not of what it needs in turn. Empty when there is none.
std::vector<std::string> needed_by(const std::string& path);

}  // namespace forebay
