#include "tools/forebay/run/program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <ranges>
#include <sstream>

#include "tools/forebay/run/elf_file.hpp"
#include "tools/forebay/run/libraries.hpp"

namespace forebay {
namespace {

constexpr int kMaxScripts = 4;  // as many interpreters of interpreters as the kernel takes

bool is_regular_file(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

// The words of the first line of a script, without "#!". Empty when it is none.
std::vector<std::string> script_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 256> start{};
  file.read(start.data(), start.size() - 1);
  const std::string_view text(start.data(), static_cast<std::size_t>(file.gcount()));
  if (!text.starts_with("#!")) return {};
  std::istringstream line(std::string(text.substr(2, text.find('\n') - 2)));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(std::move(word));
  return words;
}

// What a script's first line runs: of "/usr/bin/env [-S] [NAME=VALUE] python3", python3.
std::string interpreter_of(const std::vector<std::string>& words, std::string_view path_variable) {
  if (!words.front().ends_with("/env")) return words.front();
  for (const auto& word : words | std::views::drop(1)) {
    if (word.starts_with('-') || word.contains('=')) continue;
    return find_command(word, path_variable).value_or(words.front());
  }
  return words.front();
}

bool is_privileged(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return false;
  const bool group = (found.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
  if (((found.st_mode & S_ISUID) != 0 && found.st_uid != ::geteuid()) ||
      (group && found.st_gid != ::getegid()))
    return true;
  return ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0 && ::geteuid() != 0;
}

// The C library brings nothing that anybody asks for.
bool needs_only_libc(const std::vector<std::string>& needed) {
  return std::ranges::all_of(needed, [](const auto& name) {
    return name.starts_with("libc.so") || name.starts_with("libm.so") || name.starts_with("ld-linux");
  });
}

}  // namespace

bool Program::needs(std::string_view library) const {
  return std::ranges::any_of(libraries, [&](const auto& name) { return name == library; });
}

Result<std::string> find_command(const std::string& command, std::string_view path_variable) {
  if (command.empty()) return fail_errno(ENOENT, "run", "an empty name");
  int why = ENOENT;
  const auto usable = [&](const std::string& path) {
    if (::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0) {
      if (is_regular_file(path)) return true;
      why = EACCES;
    } else if (errno == EACCES) {
      why = EACCES;
    }
    return false;
  };
  if (command.contains('/')) {
    if (usable(command)) return command;
    return fail_errno(why, "run", command);
  }
  for (std::size_t begin = 0; begin <= path_variable.size();) {
    const auto end = std::min(path_variable.find(':', begin), path_variable.size());
    const auto directory = path_variable.substr(begin, end - begin);
    begin = end + 1;
    auto path = (directory.empty() ? std::string(".") : std::string(directory)) + "/" + command;
    if (usable(path)) return path;
  }
  return fail_errno(why, "run", command);
}

Program examine_program(const std::string& given, std::string_view path_variable) {
  Program program{.path = given};
  for (int i = 0; i < kMaxScripts; ++i) {
    const auto words = script_line(program.path);
    if (words.empty()) break;
    if (program.script.empty()) program.script = program.path;
    program.path = interpreter_of(words, path_variable);
  }
  program.privileged = is_privileged(program.path);
  const auto elf = read_elf(program.path);
  if (!elf) return program;
  program.linking = elf->loader.empty() ? Linking::kStatic : Linking::kDynamic;
  if (program.linking == Linking::kStatic) return program;
  program.libraries = elf->needed;
  if (!needs_only_libc(elf->needed)) {
    auto all = libraries_by_cache(*elf);
    if (!all) all = libraries_by_loader(elf->loader, program.path);
    if (!all->empty()) program.libraries = std::move(*all);
  }
  return program;
}

std::vector<std::string> needed_by(const std::string& path) {
  auto elf = read_elf(path);
  return elf ? std::move(elf->needed) : std::vector<std::string>{};
}

}  // namespace forebay
