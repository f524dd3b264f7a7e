#include "door/posix/shim/stdio_patch.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>

#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/state.hpp"

namespace forebay::posix {
namespace {

constexpr int kErrorSeen = 0x20;  // _IO_ERR_SEEN
constexpr int kMostSlots = 128;   // of all tables together

using Read = ssize_t (*)(FILE*, void*, ssize_t);
using Write = ssize_t (*)(FILE*, const void*, ssize_t);
using Seek = off64_t (*)(FILE*, off64_t, int);
using Close = int (*)(FILE*);
using Stat = int (*)(FILE*, void*);

constinit Read old_read = nullptr;
constinit Write old_write = nullptr;
constinit Seek old_seek = nullptr;
constinit Close old_close = nullptr;
constinit Stat old_stat = nullptr;
constinit FILE** all_streams = nullptr;
constinit bool patched = false;

ssize_t stream_read(FILE* stream, void* to, ssize_t size) {
  if (!buffered(stream->_fileno)) return old_read(stream, to, size);
  return fb_read(stream->_fileno, to, static_cast<size_t>(size));
}

// As the C library's own: all of it, or the stream has an error.
ssize_t stream_write(FILE* stream, const void* from, ssize_t size) {
  if (!buffered(stream->_fileno)) return old_write(stream, from, size);
  ssize_t done = 0;
  while (done < size) {
    const auto n =
        fb_write(stream->_fileno, static_cast<const char*>(from) + done, static_cast<size_t>(size - done));
    if (n < 0) {
      stream->_flags |= kErrorSeen;
      break;
    }
    done += n;
  }
  if (stream->_offset >= 0) stream->_offset += done;
  return done;
}

off64_t stream_seek(FILE* stream, off64_t offset, int whence) {
  if (thread.reopening != 0 || !buffered(stream->_fileno)) return old_seek(stream, offset, whence);
  return fb_lseek(stream->_fileno, offset, whence);
}

int stream_close(FILE* stream) { return fb_close(stream->_fileno); }

int stream_stat(FILE* stream, void* found) {
  return fb_fstat(stream->_fileno, static_cast<struct stat*>(found));
}

struct Range {
  uintptr_t anchor;
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// The part of the C library that is read-only after relocation, in which the tables lie.
int find_relro(dl_phdr_info* object, size_t, void* data) {
  auto& range = *static_cast<Range*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_GNU_RELRO) continue;
    const auto begin = object->dlpi_addr + part.p_vaddr;
    if (range.anchor < begin || range.anchor >= begin + part.p_memsz) continue;
    range.begin = begin;
    range.end = begin + part.p_memsz;
    return 1;
  }
  return 0;
}

template <class Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

bool stdio_patched() { return patched; }

void flush_streams() {
  if (all_streams == nullptr) return;
  for (FILE* stream = *all_streams; stream != nullptr; stream = stream->_chain) {
    if (!buffered(stream->_fileno) || ::ftrylockfile(stream) != 0) continue;
    ::fflush_unlocked(stream);
    ::funlockfile(stream);
  }
}

void patch_stdio() {
  old_read = find<Read>("_IO_file_read");
  old_write = find<Write>("_IO_file_write");
  old_seek = find<Seek>("_IO_file_seek");
  old_close = find<Close>("_IO_file_close");
  old_stat = find<Stat>("_IO_file_stat");
  all_streams = find<FILE**>("_IO_list_all");
  const auto tables = find<uintptr_t>("_IO_file_jumps");
  if (old_read == nullptr || old_write == nullptr || old_seek == nullptr || old_close == nullptr ||
      old_stat == nullptr || tables == 0)
    return;
  Range range{.anchor = tables};
  if (::dl_iterate_phdr(find_relro, &range) != 1) return;
  struct Slot {
    uintptr_t before, after;
    bool seen;
  };
  Slot slots[] = {{reinterpret_cast<uintptr_t>(old_read), reinterpret_cast<uintptr_t>(stream_read), false},
                  {reinterpret_cast<uintptr_t>(old_write), reinterpret_cast<uintptr_t>(stream_write), false},
                  {reinterpret_cast<uintptr_t>(old_seek), reinterpret_cast<uintptr_t>(stream_seek), false},
                  {reinterpret_cast<uintptr_t>(old_close), reinterpret_cast<uintptr_t>(stream_close), false},
                  {reinterpret_cast<uintptr_t>(old_stat), reinterpret_cast<uintptr_t>(stream_stat), false}};
  auto lowest = slots[0].before;
  auto highest = slots[0].before;
  for (const auto& slot : slots) {
    if (slot.before < lowest) lowest = slot.before;
    if (slot.before > highest) highest = slot.before;
  }
  // They lie close together, so that few words need a second look: every process of a tree does this.
  struct Found {
    uintptr_t* word;
    uintptr_t after;
  };
  Found found[kMostSlots];
  int count = 0;
  for (auto at = (range.begin + 7) & ~uintptr_t{7}; at + 8 <= range.end; at += 8) {
    auto* const word = reinterpret_cast<uintptr_t*>(at);
    if (*word - lowest > highest - lowest) continue;
    for (auto& slot : slots) {
      if (*word != slot.before) continue;
      if (count == kMostSlots) return;
      found[count++] = {word, slot.after};
      slot.seen = true;
    }
  }
  for (const auto& slot : slots) {
    if (!slot.seen) return;
  }
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const begin = reinterpret_cast<void*>(range.begin & ~(page - 1));
  const auto length = ((range.end + page - 1) & ~(page - 1)) - (range.begin & ~(page - 1));
  if (::mprotect(begin, length, PROT_READ | PROT_WRITE) != 0) return;
  for (int i = 0; i < count; ++i) *found[i].word = found[i].after;
  (void)::mprotect(begin, length, PROT_READ);
  patched = true;
}

}  // namespace forebay::posix
