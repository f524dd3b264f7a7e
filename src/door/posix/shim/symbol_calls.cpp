// Functions that programs look for by themselves (dlsym): who asks in the C library's own handle means what
// everybody else gets under that name.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "door/posix/shim/state.hpp"

using namespace forebay::posix;

#if defined(__x86_64__)
namespace {

// Without the C library: a sanitizer may stand in front of its functions, and look for them here first.
bool same(const char* one, const char* other) {
  while (*one != '\0' && *one == *other) ++one, ++other;
  return *one == *other;
}

// What a library offers, read from its own tables: the functions that do this are what is looked for.
struct Library {
  uintptr_t base = 0;
  uintptr_t size = 0;
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* hash = nullptr;

  void take(const link_map& map) {
    base = map.l_addr;
    // The head of a library's file is where its addresses begin.
    const auto* const head = reinterpret_cast<const Elf64_Ehdr*>(base);
    const auto* const parts = reinterpret_cast<const Elf64_Phdr*>(base + head->e_phoff);
    for (int i = 0; i < head->e_phnum; ++i) {
      if (parts[i].p_type == PT_LOAD) size = parts[i].p_vaddr + parts[i].p_memsz;
    }
    for (const auto* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
      // The loader has put addresses there; where it has not, they are offsets.
      const auto value = entry->d_un.d_ptr;
      const auto at = value < base ? value + base : value;
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const Elf64_Sym*>(at);
      if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(at);
      if (entry->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const uint32_t*>(at);
    }
  }

  [[nodiscard]] bool holds(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at >= base && at - base < size;
  }

  // Of several versions any one: those that are looked for here are the same.
  [[nodiscard]] void* find(const char* name) const {
    if (symbols == nullptr || names == nullptr || hash == nullptr) return nullptr;
    uint32_t wanted = 5381;
    for (const char* at = name; *at != '\0'; ++at) wanted = wanted * 33 + static_cast<unsigned char>(*at);
    const uint32_t buckets = hash[0];
    const uint32_t first = hash[1];
    const auto* const filter = reinterpret_cast<const uint64_t*>(hash + 4);
    const auto word = filter[wanted / 64 % hash[2]];
    if ((word >> (wanted % 64) & word >> (wanted >> hash[3]) % 64 & 1) == 0) return nullptr;
    const auto* const bucket = reinterpret_cast<const uint32_t*>(filter + hash[2]);
    const auto* const chain = bucket + buckets;
    uint32_t i = bucket[wanted % buckets];
    if (i < first) return nullptr;
    for (;; ++i) {
      const auto is = chain[i - first];
      if ((is | 1) == (wanted | 1) && same(names + symbols[i].st_name, name) &&
          symbols[i].st_shndx != SHN_UNDEF)
        return reinterpret_cast<void*>(base + symbols[i].st_value);
      if ((is & 1) != 0) return nullptr;
    }
  }
};

constinit Library shim{};
constinit Library libc{};
// Both come before all that is loaded later, and stay. Two threads may both do so, and find the same.
void know_libraries() {
  for (const auto* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    const char* name = map->l_name;
    for (const char* at = name; *at != '\0'; ++at) {
      if (*at == '/') name = at + 1;
    }
    if (same(name, "libforebay_posix.so")) shim.take(*map);
    if (same(name, "libc.so.6")) libc.take(*map);
    if (shim.hash != nullptr && libc.hash != nullptr) return;
  }
}

using Look = void* (*)(void*, const char*);
using LookVersion = void* (*)(void*, const char*, const char*);

// UCX, which comes with Open MPI, looks for these to put a jump of its own at their beginning: at ours, the
// door would see no mapping any more.
constexpr const char* kPatched[] = {"mmap",     "mmap64",        "munmap", "mremap",
                                    "mprotect", "pkey_mprotect", "shmdt"};
bool is_for_patching(const char* name) {
  for (const char* const one : kPatched) {
    if (same(name, one)) return true;
  }
  return false;
}

// What the caller gets for what the C library has found.
void* or_ours(void* found, const char* name) {
  if (found == nullptr || is_for_patching(name) || !active.load(std::memory_order_relaxed) ||
      thread.depth != 0 || !libc.holds(found))
    return found;
  void* const ours = shim.find(name);
  return ours != nullptr ? ours : found;
}

}  // namespace

// The C library's own two, for the functions below.
extern "C" {
__attribute__((visibility("hidden"))) void* fb_real_dlsym = nullptr;
__attribute__((visibility("hidden"))) void* fb_real_dlvsym = nullptr;
}

FOREBAY_CALL void fb_find_dlsym() {
  know_libraries();
  fb_real_dlvsym = libc.find("dlvsym");
  __atomic_store_n(&fb_real_dlsym, libc.find("dlsym"), __ATOMIC_RELEASE);
}
FOREBAY_CALL void* fb_dlsym(void* handle, const char* name) {
  return or_ours(reinterpret_cast<Look>(fb_real_dlsym)(handle, name), name);
}
FOREBAY_CALL void* fb_dlvsym(void* handle, const char* name, const char* version) {
  return or_ours(reinterpret_cast<LookVersion>(fb_real_dlvsym)(handle, name, version), name);
}

// What RTLD_NEXT (-1) finds depends on where the caller's code lies: those calls, and RTLD_DEFAULT's (0), go
// on with the caller's return address on the stack.
asm(R"(
.text
.macro FOREBAY_LOOK name
.globl \name
.type \name, @function
\name:
  cmpq $0, fb_real_dlsym(%rip)
  jne 1f
  pushq %rdi
  pushq %rsi
  pushq %rdx
  call fb_find_dlsym
  popq %rdx
  popq %rsi
  popq %rdi
1:
  leaq 1(%rdi), %rax
  cmpq $1, %rax
  ja fb_\name
  jmp *fb_real_\name(%rip)
.size \name, .-\name
.endm
FOREBAY_LOOK dlsym
FOREBAY_LOOK dlvsym
)");
#endif
