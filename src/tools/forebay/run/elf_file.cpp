#include "tools/forebay/run/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "os/fd.hpp"
#include "os/private_file.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kMaxHeaders = 256;
constexpr std::uint64_t kMaxDynamic = 1 << 20;
constexpr std::uint64_t kMaxString = 4096;
constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

class Reader {
 public:
  Reader(const Fd& file, const std::string& path) : file_(file), path_(path) {}

  Result<ElfFile> read() {
    ElfW(Ehdr) header{};
    FOREBAY_TRY(fill(&header, sizeof header, 0));
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != kClass ||
        header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum > kMaxHeaders) {
      return no_elf();
    }
    segments_.resize(header.e_phnum);
    FOREBAY_TRY(fill(segments_.data(), segments_.size() * sizeof(ElfW(Phdr)), header.e_phoff));
    ElfFile elf;
    for (const auto& segment : segments_) {
      if (segment.p_type == PT_INTERP) {
        FOREBAY_ASSIGN(elf.loader, string_at(segment.p_offset));
      } else if (segment.p_type == PT_DYNAMIC) {
        elf.dynamic = true;
        FOREBAY_ASSIGN(elf.needed, needed(segment, elf.has_paths));
      }
    }
    return elf;
  }

 private:
  std::unexpected<Error> no_elf() const { return fail(ENOEXEC, path_ + " is no ELF file of this machine"); }

  Status fill(void* room, std::uint64_t size, std::uint64_t offset) const {
    const auto got = read_fully(file_.get(), room, size, offset);
    if (!got || *got != size) return no_elf();
    return {};
  }

  Result<std::string> string_at(std::uint64_t offset) const {
    std::string text(kMaxString, '\0');
    FOREBAY_ASSIGN(const auto got, read_fully(file_.get(), text.data(), text.size(), offset));
    text.resize(got);
    const auto end = text.find('\0');
    if (end == std::string::npos) return no_elf();
    text.resize(end);
    return text;
  }

  // Where in the file a virtual address lies.
  Result<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const auto& segment : segments_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    }
    return no_elf();
  }

  Result<std::vector<std::string>> needed(const ElfW(Phdr) & segment, bool& has_paths) const {
    if (segment.p_filesz > kMaxDynamic) return no_elf();
    std::vector<ElfW(Dyn)> entries(segment.p_filesz / sizeof(ElfW(Dyn)));
    FOREBAY_TRY(fill(entries.data(), entries.size() * sizeof(ElfW(Dyn)), segment.p_offset));
    std::uint64_t strings = 0;
    for (const auto& entry : entries) {
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) has_paths = true;
    }
    std::vector<std::string> names;
    for (const auto& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag != DT_NEEDED) continue;
      FOREBAY_ASSIGN(const auto offset, offset_of(strings + entry.d_un.d_val));
      FOREBAY_ASSIGN(auto name, string_at(offset));
      names.push_back(std::move(name));
    }
    return names;
  }

  const Fd& file_;
  const std::string& path_;
  std::vector<ElfW(Phdr)> segments_;
};

}  // namespace

Result<ElfFile> read_elf(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail_errno(errno, "open", path);
  return Reader(file, path).read();
}

}  // namespace forebay
