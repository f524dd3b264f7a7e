// Where a buffer under test lies: its directories, its home and its settings. Everything is gone at the end.
//
// Nothing is attached: a test's parent makes a Place and its children attach to it.
#pragma once

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "config/load.hpp"
#include "engine/buffer.hpp"
#include "os/temporary_directory.hpp"

namespace forebay::testing {

// 16 buckets in memory; below them 16 in persistent memory (a plain directory), 32 on disk.
enum class Stack { kMemory, kMemoryAndDisk, kThree };

struct PlaceOptions {
  Stack stack = Stack::kMemoryAndDisk;
  unsigned bucket_kib = 4;
  std::string overrides{};  // "key=value", separated by spaces
  std::string home{};       // another directory than one of its own
  std::string memory = "/dev/shm";
};

class Place {
 public:
  explicit Place(PlaceOptions options = {}) : memory_(options.memory), options_(std::move(options)) {
    for (const char* name : {"home", "pmem", "nvme"}) std::filesystem::create_directory(disk_.file(name));
    if (options_.home.empty()) options_.home = disk_.file("home");
  }

  [[nodiscard]] Settings settings() const {
    LoadOptions options;
    const auto buckets = [&](unsigned count) {
      return ":" + std::to_string(count * options_.bucket_kib) + "KiB";
    };
    std::string tiers = "tiers=memory:" + memory_.path() + buckets(16);
    if (options_.stack == Stack::kThree) tiers += ",pmem:" + disk_.file("pmem") + buckets(16);
    if (options_.stack != Stack::kMemory) tiers += ",nvme:" + disk_.file("nvme") + buckets(32);
    options.overrides = {"buffer.directory=" + control_base(),
                         "buffer.bucket_size=" + std::to_string(options_.bucket_kib) + "KiB",
                         "buffer.max_processes=32",
                         "limits.lock_wait=20s",
                         "limits.home_wait=20s",
                         tiers};
    std::istringstream more(options_.overrides);
    for (std::string one; more >> one;) options.overrides.push_back(one);
    auto loaded = load(options, Environment{});
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return *loaded;
  }
  [[nodiscard]] std::unique_ptr<Buffer> attach(AttachOptions options = {}) const {
    auto attached = Buffer::attach(settings(), options);
    if (!attached) throw std::runtime_error("attach: " + attached.error().message);
    return std::move(*attached);
  }

  [[nodiscard]] std::string home(const std::string& name) const { return options_.home + "/" + name; }
  [[nodiscard]] std::string disk(const std::string& name) const { return disk_.file(name); }
  [[nodiscard]] std::string memory(const std::string& name) const { return memory_.file(name); }
  [[nodiscard]] std::string control_base() const { return memory_.file("control"); }
  [[nodiscard]] std::string control(const std::string& name) const {
    return control_base() + "/default/" + name;
  }

  [[nodiscard]] static std::string slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TemporaryDirectory memory_;
  TemporaryDirectory disk_;
  PlaceOptions options_;
};

}  // namespace forebay::testing
