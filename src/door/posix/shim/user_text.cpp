#include "door/posix/shim/user_text.hpp"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>

namespace forebay::posix {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kEnd = uintptr_t{1} << 47;

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;
#endif

// Kernels before 5.14 do not know the advice, and say what this one says of memory that may not be read.
bool knows_advice() {
  static constinit std::atomic<int> answer = 0;
  if (answer.load(std::memory_order_relaxed) == 0) {
    const auto here = reinterpret_cast<uintptr_t>(&answer) & ~(kPage - 1);
    const bool good = ::madvise(reinterpret_cast<void*>(here), kPage, MADV_POPULATE_READ) == 0;
    answer.store(good ? 1 : 2, std::memory_order_relaxed);
  }
  return answer.load(std::memory_order_relaxed) == 1;
}

bool page_is_readable(uintptr_t page) {
  if (page < kPage || page >= kEnd) return false;
  const int before = errno;
  auto* const at = reinterpret_cast<void*>(page);
  bool good = ::madvise(at, kPage, MADV_POPULATE_READ) == 0;
  // There only what is not mapped is found.
  if (!good && errno == EINVAL && !knows_advice()) good = ::msync(at, 1, MS_ASYNC) == 0;
  errno = before;
  return good;
}

// One look at memory: what it found readable a moment ago is not asked for again, and the words of a command
// lie close together.
class Look {
 public:
  bool bytes(const void* memory, size_t size) {
    const auto address = reinterpret_cast<uintptr_t>(memory);
    if (address >= kEnd || size > kEnd - address) return false;
    for (auto at = address & ~(kPage - 1); at < address + size; at += kPage) {
      if (!page(at)) return false;
    }
    return true;
  }

  bool text(const char* from) {
    for (size_t looked = 0; looked < PATH_MAX;) {
      const auto address = reinterpret_cast<uintptr_t>(from + looked);
      if (!page(address & ~(kPage - 1))) return false;
      const auto room = kPage - address % kPage;
      if (memchr(from + looked, '\0', room) != nullptr) return true;
      looked += room;
    }
    return true;  // and too long to be a name, as the kernel will say
  }

 private:
  bool page(uintptr_t at) {
    if (at >= begin_ && at < end_) return true;
    if (!page_is_readable(at)) return false;
    if (at != end_) begin_ = at;
    end_ = at + kPage;
    return true;
  }

  uintptr_t begin_ = 0;
  uintptr_t end_ = 0;
};

}  // namespace

bool is_readable(const void* memory, size_t size) { return Look().bytes(memory, size); }

bool is_text(const char* text) { return Look().text(text); }

bool are_texts(char* const* words) {
  Look pointers;
  Look texts;
  for (; words != nullptr; ++words) {
    if (!pointers.bytes(words, sizeof *words)) return false;
    if (*words == nullptr) return true;
    if (!texts.text(*words)) return false;
  }
  return true;
}

}  // namespace forebay::posix
