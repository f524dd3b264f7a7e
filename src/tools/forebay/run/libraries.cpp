#include "tools/forebay/run/libraries.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include "config/environment.hpp"
#include "os/fd.hpp"

namespace forebay {
namespace {

constexpr int kPatienceMs = 2000;
constexpr std::string_view kLoader = "/lib64/ld-linux-x86-64.so.2";

// glibc's /etc/ld.so.cache, as glibc 2.2 and later have it (elf/dl-cache.h there).
class Cache {
 public:
  Cache() {
    std::ifstream file("/etc/ld.so.cache", std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(file), {});
    if (!text_.starts_with("glibc-ld.so.cache1.1")) return;
    const auto count = std::min<std::uint64_t>(number(20), text_.size() / kEntry);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto at = kHeader + i * kEntry;
      if (number(at) != kLibrary64) continue;
      const auto name = text_at(number(at + 4));
      if (!name.empty()) paths_.emplace(name, text_at(number(at + 8)));
    }
  }

  // Of several of the name any: they differ in what processor they are for.
  [[nodiscard]] std::string_view find(std::string_view name) const {
    const auto found = paths_.find(name);
    return found == paths_.end() ? std::string_view{} : found->second;
  }

 private:
  static constexpr std::uint64_t kHeader = 48;
  static constexpr std::uint64_t kEntry = 24;
  static constexpr std::uint32_t kLibrary64 = 0x0303;

  // Zero beyond the end.
  [[nodiscard]] std::uint32_t number(std::uint64_t at) const {
    std::uint32_t value = 0;
    if (at + sizeof value <= text_.size()) std::memcpy(&value, text_.data() + at, sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view text_at(std::uint64_t at) const {
    if (at >= text_.size()) return {};
    return std::string_view(text_).substr(at, std::min(text_.find('\0', at), text_.size()) - at);
  }

  std::string text_;
  std::map<std::string_view, std::string_view> paths_;  // into text_
};

// What a child writes to its standard output, or nothing if it takes too long.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const Fd from(ends[0]);
  Fd to(ends[1]);
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, to.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, words.front(), &files, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return {};
  to.reset();
  std::string output;
  for (;;) {
    pollfd ready{.fd = from.get(), .events = POLLIN, .revents = 0};
    std::array<char, 8192> piece{};
    if (::poll(&ready, 1, kPatienceMs) != 1) break;
    const auto got = ::read(from.get(), piece.data(), piece.size());
    if (got <= 0) break;
    output.append(piece.data(), static_cast<std::size_t>(got));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return output;
}

}  // namespace

std::optional<std::vector<std::string>> libraries_by_cache(const ElfFile& program) {
  const auto environment = Environment::current();
  for (const char* name : {"LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT"}) {
    if (!environment.get_or(name, "").empty()) return std::nullopt;
  }
  if (program.loader != kLoader || program.has_paths || ::access("/etc/ld.so.preload", F_OK) == 0)
    return std::nullopt;
  const Cache cache;
  auto names = program.needed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (kLoader.ends_with("/" + names[i])) continue;
    const auto path = names[i].contains('/') ? std::string_view{} : cache.find(names[i]);
    if (path.empty()) return std::nullopt;
    const auto library = read_elf(std::string(path));
    if (!library || library->has_paths) return std::nullopt;
    for (const auto& name : library->needed) {
      if (!std::ranges::contains(names, name)) names.push_back(name);
    }
  }
  return names;
}

// "	libhdf5_serial.so.310 => /lib/x86_64-linux-gnu/libhdf5_serial.so.310 (0x00007f...)"
std::vector<std::string> libraries_by_loader(const std::string& loader, const std::string& path) {
  std::istringstream lines(output_of({loader, "--list", path}));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    if (words >> name) names.push_back(name.substr(name.rfind('/') + 1));
  }
  return names;
}

}  // namespace forebay
