// Files that are mapped. A mapping outlives its descriptor, and reaches the file's pages past the buffer: as
// long as there is one, the file stays open here and is used at home only. The kernel keeps the open file for
// it likewise, with its locks.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "door/posix/door.hpp"
#include "session/session.hpp"

namespace forebay::posix {
namespace {

struct Mapping {
  std::uintptr_t begin, end;
  Pin open;
};

// Of one process: a forked child leaves its parent's alone.
struct Mappings {
  std::uint32_t process = fork_generation();
  std::mutex mutex;
  std::vector<Mapping> all;  // guarded by mutex
};
constinit std::atomic<Mappings*> mappings = nullptr;

Mappings& of_this_process() {
  auto* there = mappings.load(std::memory_order_acquire);
  if (there != nullptr && there->process == fork_generation()) return *there;
  auto* const made = new Mappings;
  if (mappings.compare_exchange_strong(there, made)) return *made;
  delete made;
  return *mappings.load();
}

std::uintptr_t rounded(std::uintptr_t address) { return (address + 4095) & ~std::uintptr_t{4095}; }

}  // namespace

void mapped(int fd, void* at, unsigned long length) {
  auto open = known(fd);
  if (!open) return;
  auto& here = of_this_process();
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::scoped_lock lock(here.mutex);
  here.all.push_back({begin, rounded(begin + length), std::move(open)});
}

void moved(void* at, unsigned long length, void* to, unsigned long now) {
  auto& here = of_this_process();
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const auto end = rounded(begin + length);
  std::vector<Pin> gone;
  {
    const std::scoped_lock lock(here.mutex);
    for (auto& one : here.all) {
      if (one.end <= begin || one.begin >= end) continue;
      if (to != nullptr) {
        one.begin = reinterpret_cast<std::uintptr_t>(to);
        one.end = rounded(one.begin + now);
      } else if (begin <= one.begin && end >= one.end) {
        gone.push_back(std::move(one.open));
        one.begin = one.end = 0;
      } else if (begin <= one.begin) {
        one.begin = end;
      } else if (end >= one.end) {
        one.end = begin;
      }
      // A hole in its middle leaves it as it is.
    }
    std::erase_if(here.all, [](const Mapping& one) { return one.end == 0; });
  }
  // The last one closes the file: not under the lock.
}

}  // namespace forebay::posix
