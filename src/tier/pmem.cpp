#include "tier/pmem.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "base/log.hpp"

namespace forebay {
namespace {

struct Library {
  int (*is_pmem)(const void*, std::size_t) = nullptr;
  void (*persist)(const void*, std::size_t) = nullptr;

  Library() {
    void* const library = ::dlopen("libpmem.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      log_info("persistent memory is used as any other storage: {}", ::dlerror());
      return;
    }
    is_pmem = reinterpret_cast<decltype(is_pmem)>(::dlsym(library, "pmem_is_pmem"));
    persist = reinterpret_cast<decltype(persist)>(::dlsym(library, "pmem_persist"));
  }
};

// Never destroyed: programs write until their last instruction.
const Library& library() {
  static const auto& loaded = *new Library;
  return loaded;
}

}  // namespace

bool is_pmem(const void* data, std::size_t size) {
  const auto& there = library();
  return there.is_pmem != nullptr && there.is_pmem(data, size) == 1;
}

void persist_pmem(const void* data, std::size_t size) {
  if (const auto& there = library(); there.persist != nullptr) {
    there.persist(data, size);
  } else {
    (void)persist_mapped(data, size);
  }
}

bool persist_mapped(const void* data, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(data) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(data) + size;
  return ::msync(reinterpret_cast<void*>(begin), end - begin, MS_SYNC) == 0;
}

}  // namespace forebay
