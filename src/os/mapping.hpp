// A shared mapping of (a part of) a file, unmapped at destruction.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace forebay {

class Mapping {
 public:
  Mapping() = default;
  // The file may still be shorter than `size`: pages beyond its end must not be touched until it has grown.
  // `flags`: MAP_SHARED or a variant of it.
  static Result<Mapping> shared(int fd, std::size_t size, const std::string& name, int flags = MAP_SHARED) {
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (at == MAP_FAILED) return fail_errno(errno, "map", name);
    return Mapping(static_cast<std::byte*>(at), size);
  }
  // The same over address space that the caller has reserved at `start`.
  static Result<Mapping> shared_at(std::byte* start, int fd, std::size_t size, const std::string& name,
                                   int flags) {
    void* at = ::mmap(start, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);
    if (at == MAP_FAILED) return fail_errno(errno, "map", name);
    return Mapping(static_cast<std::byte*>(at), size);
  }
  // Private zeroed memory, in pages of its own so that it can be advised about.
  static Result<Mapping> anonymous(std::size_t size) {
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return fail_errno(errno, "map", "memory");
    return Mapping(static_cast<std::byte*>(at), size);
  }
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Mapping(std::byte* data, std::size_t size) : data_(data), size_(size) {}
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace forebay
