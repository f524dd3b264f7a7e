// Memory and small files to compare with.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/node.hpp"
#include "os/mapping.hpp"

namespace forebay::bench {

inline constexpr std::uint64_t kMi = 1u << 20;

// Bytes that look like data.
[[nodiscard]] inline std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::mt19937_64 random(42);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// [0, count) in random order, the same at every run; another one for each `who`.
[[nodiscard]] inline std::vector<std::uint64_t> shuffled(std::uint64_t count, unsigned who = 0) {
  std::vector<std::uint64_t> order(count);
  for (std::uint64_t i = 0; i < count; ++i) order[i] = i;
  std::ranges::shuffle(order, std::mt19937_64(7 + who));
  return order;
}

// A file on tmpfs.
class PlainFile {
 public:
  explicit PlainFile(std::string path)
      : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) {
    if (!fd_) throw std::runtime_error("cannot make " + path_);
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() { ::unlink(path_.c_str()); }

  void write(std::uint64_t offset, std::span<const std::byte> data) const {
    if (::pwrite(fd_.get(), data.data(), data.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(data.size())) {
      throw std::runtime_error("cannot write " + path_);
    }
  }
  void read(std::uint64_t offset, std::span<std::byte> out) const {
    if (::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(out.size())) {
      throw std::runtime_error("cannot read " + path_);
    }
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  std::string path_;
  Fd fd_;
};

// Shared memory on tmpfs, every page of it touched: what a memory tier is, without the engine.
class TouchedMemory {
 public:
  TouchedMemory(const Run& run, std::uint64_t size) : file_(run.scratch().in_memory("touched") + "/memory") {
    if (::posix_fallocate(file_.fd(), 0, static_cast<off_t>(size)) != 0)
      throw std::runtime_error("no memory");
    mapping_ = must(Mapping::shared(file_.fd(), size, "memory"));
    std::memset(mapping_.data(), 1, size);
  }
  [[nodiscard]] std::byte* data() const { return mapping_.data(); }

 private:
  PlainFile file_;
  Mapping mapping_;
};

}  // namespace forebay::bench
