// For tests: a buffer with tiny tiers and a home of its own, all of it gone at the end.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "config/load.hpp"
#include "engine/buffer.hpp"
#include "os/temporary_directory.hpp"

namespace forebay {

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
inline std::span<std::byte> writable_bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span(text));
}

class TestBuffer {
 public:
  // `overrides`: "key=value", separated by spaces. 16 buckets of 4 KiB in memory, 32 on disk unless they say
  // otherwise.
  explicit TestBuffer(const std::string& overrides = "", bool attach_now = true)
      : memory_("/dev/shm"), overrides_(overrides) {
    std::filesystem::create_directory(disk_.file("home"));
    std::filesystem::create_directory(disk_.file("nvme"));
    if (attach_now) attach();
  }

  [[nodiscard]] Settings settings() const {
    LoadOptions options;
    options.overrides = {"buffer.directory=" + memory_.file("control"), "buffer.bucket_size=4KiB",
                         "buffer.max_processes=32",
                         "tiers=memory:" + memory_.path() + ":64KiB,nvme:" + disk_.file("nvme") + ":128KiB"};
    std::istringstream more(overrides_);
    for (std::string one; more >> one;) options.overrides.push_back(one);
    auto loaded = load(options, Environment{});
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return *loaded;
  }
  void attach(AttachOptions options = {}) {
    auto attached = Buffer::attach(settings(), options);
    if (!attached) throw std::runtime_error(attached.error().message);
    buffer_ = std::move(*attached);
  }
  void detach() { buffer_.reset(); }
  [[nodiscard]] Buffer& operator*() { return *buffer_; }
  [[nodiscard]] Buffer* operator->() { return buffer_.get(); }

  [[nodiscard]] std::string home(const std::string& name) const { return disk_.file("home/" + name); }
  [[nodiscard]] std::string memory(const std::string& name) const { return memory_.file(name); }
  [[nodiscard]] std::string disk(const std::string& name) const { return disk_.file(name); }
  [[nodiscard]] std::string control_directory() const { return memory_.file("control/default"); }

  [[nodiscard]] std::shared_ptr<File> open(const std::string& path, int flags) {
    auto file = buffer_->open(path, flags);
    if (!file) throw std::runtime_error(file.error().message);
    return *file;
  }
  [[nodiscard]] static std::string slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] static std::string read_all(File& file) {
    std::string text(file.size().value(), '?');
    const auto n = file.read(0, writable_bytes_of(text));
    if (!n) throw std::runtime_error(n.error().message);
    text.resize(*n);
    return text;
  }
  // For what happens in the background: true as soon as it has, false after a long wait.
  template <class Condition>
  [[nodiscard]] static bool eventually(Condition&& condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

 private:
  TemporaryDirectory memory_;
  TemporaryDirectory disk_;
  std::string overrides_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace forebay
