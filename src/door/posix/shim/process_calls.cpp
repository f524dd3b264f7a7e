// New programs, new processes, ends of processes. What is spawned is in spawn_calls.cpp.
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "door/posix/shim/before_exec.hpp"
#include "door/posix/shim/homes.hpp"
#include "door/posix/shim/opened.hpp"
#include "door/posix/shim/state.hpp"

using namespace forebay::posix;

extern "C" char** environ;

FOREBAY_CALL int fb_execve(const char* path, char* const* arguments, char* const* environment) {
  const bool known = before_exec(AT_FDCWD, path, Search::kHere, arguments, environment);
  return when_written(known, [&] { return real.execve(path, arguments, environment); });
}
FOREBAY_CALL int fb_execv(const char* path, char* const* arguments) {
  return fb_execve(path, arguments, environ);
}
FOREBAY_CALL int fb_execvpe(const char* file, char* const* arguments, char* const* environment) {
  const bool known = before_exec(AT_FDCWD, file, Search::kInPath, arguments, environment);
  return when_written(known, [&] { return real.execvpe(file, arguments, environment); });
}
FOREBAY_CALL int fb_execvp(const char* file, char* const* arguments) {
  return fb_execvpe(file, arguments, environ);
}
FOREBAY_CALL int fb_execveat(int at, const char* path, char* const* arguments, char* const* environment,
                             int flags) {
  const bool known = before_exec(at, path, Search::kHere, arguments, environment);
  return when_written(known, [&] { return real.execveat(at, path, arguments, environment, flags); });
}
FOREBAY_CALL int fb_fexecve(int fd, char* const* arguments, char* const* environment) {
  char name[PATH_MAX];
  before_exec(AT_FDCWD, name_of(fd, name, sizeof name) ? name : nullptr, Search::kHere, arguments,
              environment);
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

FOREBAY_CALL void fb__exit(int code) {
  if (const auto* const there = engine.load(); there != nullptr && thread.depth == 0 && !in_vfork_child()) {
    const Crossing crossing;
    there->leave();
  }
  real._exit(code);
}

// Its standard descriptors are others afterwards, without a call that could be seen.
FOREBAY_CALL int fb_daemon(int stays, int keeps) {
  const int result = real.daemon(stays, keeps);
  for (int fd = 0; keeps == 0 && fd < 3; ++fd) (void)forget(fd);
  return result;
}

// The same, on a terminal of its own.
FOREBAY_CALL int fb_login_tty(int terminal) {
  const int result = real.login_tty(terminal);
  for (int fd = 0; result == 0 && fd < 3; ++fd) (void)forget(fd);
  if (result == 0 && terminal > 2) (void)forget(terminal);
  return result;
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
FOREBAY_EXPORT(daemon, fb_daemon);
FOREBAY_EXPORT(login_tty, fb_login_tty);
FOREBAY_EXPORT(_exit, fb__exit);
FOREBAY_EXPORT(_Exit, fb__exit);
FOREBAY_EXPORT(pthread_create, fb_pthread_create);
