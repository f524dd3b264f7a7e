#include "door/posix/shim/unseen.hpp"

#include <elf.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>

#include "config/raw_variable.hpp"
#include "door/posix/shim/by_name.hpp"

extern "C" char** environ;

namespace forebay::posix {
namespace {

// Of one file, through the C library, and closed again.
class Looking {
 public:
  Looking(int at, const char* path, int flags)
      : errno_(errno), fd_(real.openat(at, path, flags | O_CLOEXEC)) {}
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;
  ~Looking() {
    if (fd_ >= 0) real.close(fd_);
    errno = errno_;
  }
  [[nodiscard]] int fd() const { return fd_; }
  template <class T>
  bool get(T& value, off_t at) const {
    return real.pread(fd_, &value, sizeof value, at) == static_cast<ssize_t>(sizeof value);
  }

 private:
  int errno_;
  int fd_;
};

// Go's own mark: a note with its name.
bool is_go(const Looking& file, const Elf64_Phdr& notes) {
  char text[1024];
  const auto room = notes.p_filesz < sizeof text ? notes.p_filesz : sizeof text;
  const auto size = real.pread(file.fd(), text, room, static_cast<off_t>(notes.p_offset));
  const auto padded = [](uint64_t length) { return (length + 3) & ~uint64_t{3}; };
  Elf64_Nhdr note;
  for (uint64_t at = 0; size > 0 && at + sizeof note + 4 <= static_cast<uint64_t>(size);) {
    memcpy(&note, text + at, sizeof note);
    if (note.n_namesz == 4 && memcmp(text + at + sizeof note, "Go\0", 4) == 0) return true;
    at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
  }
  return false;
}

bool append(char* path, unsigned long size, const char* more) {
  const auto used = strlen(path);
  if (used + strlen(more) + 1 > size) return false;
  strcpy(path + used, more);
  return true;
}

constexpr int kMostScripts = 5;  // as the kernel: one may be the interpreter of the next

// What runs a script, from its first line.
bool is_script(const Looking& file, char (&interpreter)[256]) {
  const auto size = real.pread(file.fd(), interpreter, sizeof interpreter - 1, 0);
  if (size < 3 || interpreter[0] != '#' || interpreter[1] != '!') return false;
  interpreter[size] = '\0';
  const char* const begin = interpreter + 2 + strspn(interpreter + 2, " \t");
  const auto length = strcspn(begin, " \t\n");
  memmove(interpreter, begin, length);
  interpreter[length] = '\0';
  return length != 0;
}

// The loader takes no library from the environment where a program gets rights that its caller has not.
bool has_other_rights(const Looking& file, const struct stat& found) {
  if ((found.st_mode & (S_ISUID | S_ISGID)) != 0) return true;
  return ::getuid() != 0 && ::fgetxattr(file.fd(), "security.capability", nullptr, 0) > 0;
}

const char* why_unseen(const Looking& file, const struct stat& found) {
  if (has_other_rights(file, found)) return "runs with other rights than its caller";
  Elf64_Ehdr header;
  if (!file.get(header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return nullptr;
  bool dynamic = false;
  bool go = false;
  for (unsigned i = 0; i < header.e_phnum && i < 64; ++i) {
    Elf64_Phdr part;
    if (!file.get(part, static_cast<off_t>(header.e_phoff + i * sizeof part))) break;
    dynamic = dynamic || part.p_type == PT_INTERP;
    go = go || (part.p_type == PT_NOTE && is_go(file, part));
  }
  if (!dynamic) return "is linked statically";
  return go ? "makes system calls by itself (Go)" : nullptr;
}

}  // namespace

const char* why_unseen(int at, const char* path, char* const* environment) {
  const char* const preloaded = raw_variable(environment, "LD_PRELOAD");
  if (preloaded == nullptr || strstr(preloaded, "libforebay_posix.so") == nullptr)
    return "was started without the library";
  char interpreter[256];
  for (int depth = 0; depth < kMostScripts; ++depth) {
    const Looking file(at, path, O_RDONLY);
    struct stat found;
    if (file.fd() < 0 || real.fstat(file.fd(), &found) != 0) return nullptr;
    if (!is_script(file, interpreter)) return why_unseen(file, found);
    at = AT_FDCWD;
    path = interpreter;
  }
  return nullptr;
}

bool find_program(const char* file, char* path, unsigned long size) {
  if (strchr(file, '/') != nullptr) {
    *path = '\0';
    return append(path, size, file);
  }
  const char* folder = raw_variable(environ, "PATH");
  if (folder == nullptr) folder = "/bin:/usr/bin";
  const int before = errno;
  bool there = false;
  while (!there) {
    const char* const end = strchrnul(folder, ':');
    const auto length = static_cast<unsigned long>(end - folder);
    if (length + 2 < size) {
      memcpy(path, folder, length);
      path[length] = '\0';
      there = append(path, size, length == 0 ? "./" : "/") && append(path, size, file) &&
              ::access(path, X_OK) == 0;
    }
    if (*end == '\0') break;
    folder = end + 1;
  }
  errno = before;
  return there;
}

bool mean_home(char* const* words) {
  for (int fd = 0; fd < 3; ++fd) {
    if (state_of(fd) == State::kBuffered) return true;
  }
  char here[PATH_MAX];
  if (absolute_name(AT_FDCWD, ".", here, sizeof here) && lies_in_home(here)) return true;
  for (; words != nullptr && *words != nullptr; ++words) {
    if (strchr(*words, '/') != nullptr && may_lie_in_home(AT_FDCWD, *words)) return true;
  }
  return false;
}

void note_unseen(const char* path, const char* why) {
  const char* const directory = raw_variable(environ, "FOREBAY_BUFFER_DIRECTORY");
  const char* const name = raw_variable(environ, "FOREBAY_BUFFER_NAME");
  if (directory == nullptr || name == nullptr) return;
  char text[PATH_MAX] = "";
  // The file that `forebay run` holds locked (tools/forebay/run/lock.hpp).
  if (!append(text, sizeof text, directory) || !append(text, sizeof text, "/") ||
      !append(text, sizeof text, name) || !append(text, sizeof text, ".run"))
    return;
  const Looking file(AT_FDCWD, text, O_WRONLY | O_APPEND | O_NOFOLLOW);
  struct stat found;
  constexpr off_t kEnough = 64 << 10;
  if (file.fd() < 0 || real.fstat(file.fd(), &found) != 0 || found.st_size > kEnough) return;
  *text = '\0';
  if (append(text, sizeof text, path) && append(text, sizeof text, " ") && append(text, sizeof text, why) &&
      append(text, sizeof text, "\n")) {
    [[maybe_unused]] const auto n = real.write(file.fd(), text, strlen(text));
  }
}

}  // namespace forebay::posix
