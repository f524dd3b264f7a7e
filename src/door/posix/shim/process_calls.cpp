// New programs, new processes, ends of processes.
#include <elf.h>
#include <stdarg.h>
#include <string.h>

#include "config/raw_variable.hpp"
#include "door/posix/shim/by_name.hpp"

using namespace forebay::posix;

extern "C" char** environ;

namespace {

// Will the program be seen by us? Scripts are, by their interpreter.
bool will_be_seen(int at, const char* path, char* const* environment) {
  const char* const preloaded = forebay::raw_variable(environment, "LD_PRELOAD");
  if (preloaded == nullptr || strstr(preloaded, "libforebay_posix.so") == nullptr) return false;
  if (path == nullptr || strchr(path, '/') == nullptr) return true;
  const int before = errno;
  const int fd = real.openat(at, path, O_RDONLY | O_CLOEXEC);
  bool seen = true;
  if (fd >= 0) {
    struct stat found;
    Elf64_Ehdr header;
    if (real.fstat(fd, &found) == 0 && (found.st_mode & (S_ISUID | S_ISGID)) != 0) seen = false;
    if (seen && real.pread(fd, &header, sizeof header, 0) == sizeof header &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) {
      seen = false;
      for (unsigned i = 0; i < header.e_phnum && i < 64; ++i) {
        Elf64_Phdr part;
        const auto place = static_cast<off_t>(header.e_phoff + i * sizeof part);
        if (real.pread(fd, &part, sizeof part, place) == sizeof part && part.p_type == PT_INTERP) seen = true;
      }
    }
    real.close(fd);
  }
  errno = before;
  return seen;
}

// What is unsaved of the file that is about to be run, if it lies in a home.
void drain_program(int at, const char* path) {
  Names file;
  const auto* const there = path != nullptr && strchr(path, '/') != nullptr ? engine_for(at, path) : nullptr;
  if (there == nullptr || !look_at(at, path, true, &file)) return;
  const Crossing crossing;
  (void)there->drain_inode(file.device, file.inode);
}

void before_exec(int at, const char* path, char* const* environment) {
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0) return;
  drain_program(at, path);
  const auto* const there = engine.load(std::memory_order_acquire);
  if (there == nullptr) return;
  const bool seen = will_be_seen(at, path, environment);
  // The child of a vfork leaves nothing of its parent's behind; but who cannot be seen finds its files at
  // home.
  if (in_vfork_child() && seen) return;
  const Crossing crossing;
  (void)there->drain_everything(seen ? 0 : 1);
}

void before_spawn(const char* path, char* const* environment) {
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0) return;
  drain_program(AT_FDCWD, path);
  const auto* const there = engine.load(std::memory_order_acquire);
  if (there == nullptr || will_be_seen(AT_FDCWD, path, environment)) return;
  const Crossing crossing;
  (void)there->drain_everything(1);
}

}  // namespace

FOREBAY_CALL int fb_execve(const char* path, char* const* arguments, char* const* environment) {
  before_exec(AT_FDCWD, path, environment);
  return real.execve(path, arguments, environment);
}
FOREBAY_CALL int fb_execv(const char* path, char* const* arguments) {
  return fb_execve(path, arguments, environ);
}
FOREBAY_CALL int fb_execvpe(const char* file, char* const* arguments, char* const* environment) {
  before_exec(AT_FDCWD, file, environment);
  return real.execvpe(file, arguments, environment);
}
FOREBAY_CALL int fb_execvp(const char* file, char* const* arguments) {
  return fb_execvpe(file, arguments, environ);
}
FOREBAY_CALL int fb_execveat(int at, const char* path, char* const* arguments, char* const* environment,
                             int flags) {
  before_exec(at, path, environment);
  return real.execveat(at, path, arguments, environment, flags);
}
FOREBAY_CALL int fb_fexecve(int fd, char* const* arguments, char* const* environment) {
  before_exec(fd, nullptr, environment);
  return real.fexecve(fd, arguments, environment);
}

// The forms with a list: its words on the stack, as the C library does it.
#define FOREBAY_COLLECT(first)                                                             \
  va_list more;                                                                            \
  va_start(more, first);                                                                   \
  size_t count = 1;                                                                        \
  while (va_arg(more, char*) != nullptr) ++count;                                          \
  va_end(more);                                                                            \
  auto** const words = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  va_start(more, first);                                                                   \
  words[0] = const_cast<char*>(first);                                                     \
  for (size_t i = 1; i <= count; ++i) words[i] = va_arg(more, char*)

FOREBAY_CALL int fb_execl(const char* path, const char* first, ...) {
  FOREBAY_COLLECT(first);
  va_end(more);
  return fb_execve(path, words, environ);
}
FOREBAY_CALL int fb_execlp(const char* file, const char* first, ...) {
  FOREBAY_COLLECT(first);
  va_end(more);
  return fb_execvpe(file, words, environ);
}
FOREBAY_CALL int fb_execle(const char* path, const char* first, ...) {
  FOREBAY_COLLECT(first);
  char* const* const environment = va_arg(more, char* const*);
  va_end(more);
  return fb_execve(path, words, environment);
}

FOREBAY_CALL int fb_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* arguments,
                                char* const* environment) {
  before_spawn(path, environment);
  return real.posix_spawn(pid, path, actions, attributes, arguments, environment);
}
FOREBAY_CALL int fb_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const* arguments,
                                 char* const* environment) {
  before_spawn(file, environment);
  return real.posix_spawnp(pid, file, actions, attributes, arguments, environment);
}

FOREBAY_CALL void fb__exit(int code) {
  if (const auto* const there = engine.load(); there != nullptr && thread.depth == 0 && !in_vfork_child()) {
    const Crossing crossing;
    there->leave();
  }
  real._exit(code);
}

namespace {
struct Start {
  void* (*body)(void*);
  void* argument;
};
void* run_inside(void* given) {
  const Start start = *static_cast<Start*>(given);
  ::free(given);
  thread.depth = 1;
  return start.body(start.argument);
}
}  // namespace

// The engine's threads are inside it for good.
FOREBAY_CALL int fb_pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*body)(void*),
                                   void* argument) {
  if (thread.depth == 0) return real.pthread_create(made, attributes, body, argument);
  auto* const start = static_cast<Start*>(::malloc(sizeof(Start)));
  if (start == nullptr) return EAGAIN;
  *start = {body, argument};
  const int result = real.pthread_create(made, attributes, run_inside, start);
  if (result != 0) ::free(start);
  return result;
}

#if defined(__x86_64__)
// Its child has its parent's memory and its parent's place in it, so that this must not be a function with a
// frame. The thread's count says where it is: the child's, until the parent goes on and takes it back.
extern "C" __attribute__((used, visibility("hidden"))) void fb_vfork_begin() {
  if (thread.vforks++ == 0) memset(thread.changed, 0, sizeof thread.changed);
}
extern "C" __attribute__((used, visibility("hidden"))) void fb_vfork_end() { --thread.vforks; }
extern "C" __attribute__((used, visibility("hidden"))) int fb_vfork_failed(int code) {
  errno = -code;
  return -1;
}
asm(R"(
.text
.globl vfork
.type vfork, @function
vfork:
  subq $8, %rsp
  call fb_vfork_begin
  addq $8, %rsp
  popq %rdi
  movl $58, %eax
  syscall
  pushq %rdi
  testl %eax, %eax
  jz 2f
  pushq %rax
  call fb_vfork_end
  popq %rax
  testl %eax, %eax
  js 1f
2:
  ret
1:
  movl %eax, %edi
  subq $8, %rsp
  call fb_vfork_failed
  addq $8, %rsp
  ret
.size vfork, .-vfork
.globl __vfork
.set __vfork, vfork
)");
#else
FOREBAY_EXPORT(vfork, fork);
#endif

FOREBAY_EXPORT(execve, fb_execve);
FOREBAY_EXPORT(execv, fb_execv);
FOREBAY_EXPORT(execvp, fb_execvp);
FOREBAY_EXPORT(execvpe, fb_execvpe);
FOREBAY_EXPORT(execveat, fb_execveat);
FOREBAY_EXPORT(fexecve, fb_fexecve);
FOREBAY_EXPORT(execl, fb_execl);
FOREBAY_EXPORT(execlp, fb_execlp);
FOREBAY_EXPORT(execle, fb_execle);
FOREBAY_EXPORT(posix_spawn, fb_posix_spawn);
FOREBAY_EXPORT(posix_spawnp, fb_posix_spawnp);
FOREBAY_EXPORT(_exit, fb__exit);
FOREBAY_EXPORT(_Exit, fb__exit);
FOREBAY_EXPORT(pthread_create, fb_pthread_create);
