// For tests of the command line: a buffer's directories and home of their own, and `forebay` run upon them.
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "engine/buffer.hpp"
#include "os/temporary_directory.hpp"
#include "support/command.hpp"
#include "support/places.hpp"

namespace forebay::testing {

class Node {
 public:
  // 64 buckets of 4 KiB in memory, 64 on disk. Nothing goes home by itself. `more`: settings on top.
  explicit Node(std::vector<std::string> more = {}) : memory_("/dev/shm"), more_(std::move(more)) {
    std::filesystem::create_directory(disk_.file("home"));
    std::filesystem::create_directory(disk_.file("nvme"));
  }

  [[nodiscard]] std::vector<std::string> overrides() const {
    std::vector<std::string> all{
        "buffer.directory=" + memory_.file("control"),
        "buffer.bucket_size=4KiB",
        "buffer.max_processes=32",
        "drain.trigger=never",
        "on_close=detach",
        "limits.home_wait=20s",
        "tiers=memory:" + memory_.path() + ":256KiB,nvme:" + disk_.file("nvme") + ":256KiB"};
    all.insert(all.end(), more_.begin(), more_.end());
    return all;
  }
  [[nodiscard]] Settings settings() const {
    LoadOptions options;
    options.overrides = overrides();
    auto loaded = load(options, Environment{});
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return *loaded;
  }

  // `forebay` with this node's settings.
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& arguments) const {
    auto all = arguments;
    for (const auto& setting : overrides()) all.insert(all.end(), {"--set", setting});
    return all;
  }
  [[nodiscard]] Ran forebay(const std::vector<std::string>& arguments) const {
    return run(program(), command(arguments));
  }
  [[nodiscard]] static std::string program() { return built("src/tools/forebay/forebay"); }

  [[nodiscard]] std::string home(const std::string& name) const { return disk_.file("home/" + name); }
  [[nodiscard]] std::string disk(const std::string& name) const { return disk_.file(name); }
  [[nodiscard]] std::string memory(const std::string& name) const { return memory_.file(name); }
  [[nodiscard]] std::string control(const std::string& name = "control") const {
    return memory_.file("control/default/" + name);
  }
  [[nodiscard]] std::string memory_data() const {
    return memory_.file("forebay-" + std::to_string(::geteuid()) + "/default/memory.data");
  }

 private:
  TemporaryDirectory memory_;
  TemporaryDirectory disk_;
  std::vector<std::string> more_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Writes `text` at `offset` of a file of the buffer, which stays open as long as the buffer.
inline void put(Buffer& buffer, const std::string& path, std::uint64_t offset, const std::string& text) {
  auto file = buffer.open(path, O_RDWR | O_CREAT);
  if (!file) throw std::runtime_error(file.error().message);
  const auto written = (*file)->write(offset, std::as_bytes(std::span(text)));
  if (!written) throw std::runtime_error(written.error().message);
  static std::vector<std::shared_ptr<File>> open_files;
  open_files.push_back(std::move(*file));
}

// Text of which no two places look alike.
inline std::string pattern(std::size_t size, unsigned seed = 1) {
  std::string text(size, '\0');
  std::uint64_t state = seed * 0x9e3779b97f4a7c15;
  for (auto& c : text) {
    state = state * 6364136223846793005 + 1442695040888963407;
    c = static_cast<char>(state >> 56);
  }
  return text;
}

}  // namespace forebay::testing
