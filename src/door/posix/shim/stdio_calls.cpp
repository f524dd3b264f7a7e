// Streams: what makes, changes and ends them. Their reads and writes come through stdio_patch.cpp.
#include <stdarg.h>
#include <string.h>

#include "door/posix/shim/calls.hpp"
#include "door/posix/shim/opened.hpp"
#include "door/posix/shim/stdio_patch.hpp"

using namespace forebay::posix;

namespace {

int flags_of(const char* mode) {
  const bool both = strchr(mode, '+') != nullptr;
  if (*mode == 'w') return (both ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC;
  if (*mode == 'a') return (both ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
  return both ? O_RDWR : O_RDONLY;
}

// Without 'm': a stream that maps its file would read past us.
struct Mode {
  char text[32];
  explicit Mode(const char* from) {
    unsigned used = 0;
    bool in_options = false;
    for (; *from != '\0' && used + 1 < sizeof text; ++from) {
      in_options = in_options || *from == ',';
      if (*from != 'm' || in_options || used == 0) text[used++] = *from;
    }
    text[used] = '\0';
  }
};

// The C library went to the end, and keeps in mind where that is, before the file was known: to home's end.
void at_the_end(FILE* stream, int flags) {
  if ((flags & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY)) ::fseeko(stream, 0, SEEK_END);
}

FILE* stream_opened(FILE* stream, const char* path, int flags) {
  if (stream == nullptr || !active.load(std::memory_order_relaxed) || thread.depth != 0) return stream;
  const int fd = ::fileno(stream);
  const long is = in_vfork_child() ? 0 : settle(fd, flags, may_lie_in_home(AT_FDCWD, path));
  if (in_vfork_child()) set_state(fd, State::kPlain);
  if (is < 0) {
    const int why = errno;
    real.fclose(stream);
    errno = why;
    return nullptr;
  }
  if (!buffered(fd)) return stream;
  if (!stdio_patched()) (void)prepared(&Engine::go_direct, fd, "streams of this C library");
  at_the_end(stream, flags);
  return stream;
}

bool far_mode(const char* mode) {
  return mode != nullptr && strchr(mode, 'm') != nullptr && strlen(mode) < 30;
}

}  // namespace

FOREBAY_CALL FILE* fb_fopen(const char* path, const char* mode) {
  if (!active.load(std::memory_order_relaxed) || mode == nullptr) return real.fopen(path, mode);
  if (far_mode(mode)) {
    const Mode without(mode);
    return stream_opened(real.fopen(path, without.text), path, flags_of(mode));
  }
  return stream_opened(real.fopen(path, mode), path, flags_of(mode));
}

FOREBAY_CALL FILE* fb_fdopen(int fd, const char* mode) {
  // The C library makes the open file append, for all who share it.
  if (active.load(std::memory_order_relaxed) && mode != nullptr && *mode == 'a' && buffered(fd) &&
      (real.fcntl(fd, F_GETFL) & O_APPEND) == 0 &&
      !prepared(&Engine::go_direct, fd, "O_APPEND set by fdopen"))
    return nullptr;
  FILE* const stream = real.fdopen(fd, mode);
  if (stream != nullptr && !stdio_patched() && buffered(fd))
    (void)prepared(&Engine::go_direct, fd, "streams of this C library");
  return stream;
}

// Without a name the stream's own file is opened once more, by its number.
FOREBAY_CALL FILE* fb_freopen(const char* path, const char* mode, FILE* stream) {
  if (!active.load(std::memory_order_relaxed) || thread.depth != 0) return real.freopen(path, mode, stream);
  const int before = ::fileno(stream);
  ::fflush(stream);
  (void)forget(before);
  // What it opens has another number until it is closed unseen: it must not be known by that.
  thread.reopening = 1;
  FILE* const result = real.freopen(path, mode, stream);
  thread.reopening = 0;
  if (result == nullptr) return result;
  if (path != nullptr) return stream_opened(result, path, flags_of(mode));
  const int fd = ::fileno(result);
  if (fd >= 0 && settle(fd, flags_of(mode), true) == 1) at_the_end(result, flags_of(mode));
  return result;
}

namespace {

// Its own close is seen in the table of streams, but for a pipe to a program; where it is not, the descriptor
// must not stay known.
template <class Call>
int closing(FILE* stream, Call call) {
  const int fd = active.load(std::memory_order_relaxed) && thread.depth == 0 ? ::fileno(stream) : -1;
  const bool missed = fd >= 0 && !stdio_patched() && state_of(fd) == State::kBuffered;
  if (fd >= 0 && state_of(fd) == State::kPlain) set_state(fd, State::kUnknown);
  const int result = call(stream);
  if (missed) (void)forget(fd);
  return result;
}

}  // namespace

FOREBAY_CALL int fb_fclose(FILE* stream) { return closing(stream, real.fclose); }
FOREBAY_CALL int fb_pclose(FILE* stream) { return closing(stream, real.pclose); }

FOREBAY_CALL FILE* fb_tmpfile() {
  FILE* const stream = real.tmpfile();
  if (stream != nullptr && active.load(std::memory_order_relaxed) && thread.depth == 0)
    made(::fileno(stream));
  return stream;
}

// The C library formats these into a stream of their own whose writes nobody sees.
FOREBAY_CALL int fb_vdprintf(int fd, const char* format, va_list arguments) {
  if (!buffered(fd)) return real.vdprintf(fd, format, arguments);
  char* text = nullptr;
  const int length = ::vasprintf(&text, format, arguments);
  if (length < 0) return length;
  int done = 0;
  while (done < length) {
    const auto n = fb_write(fd, text + done, static_cast<size_t>(length - done));
    if (n < 0) break;
    done += static_cast<int>(n);
  }
  ::free(text);
  return done < length ? -1 : length;
}
FOREBAY_CALL int fb_dprintf(int fd, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = fb_vdprintf(fd, format, arguments);
  va_end(arguments);
  return result;
}
FOREBAY_CALL int fb_vdprintf_chk(int fd, int, const char* format, va_list arguments) {
  return fb_vdprintf(fd, format, arguments);
}
FOREBAY_CALL int fb_dprintf_chk(int fd, int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = fb_vdprintf(fd, format, arguments);
  va_end(arguments);
  return result;
}

FOREBAY_EXPORT(fopen, fb_fopen);
FOREBAY_EXPORT(fopen64, fb_fopen);
FOREBAY_EXPORT(_IO_fopen, fb_fopen);
FOREBAY_EXPORT(fdopen, fb_fdopen);
FOREBAY_EXPORT(_IO_fdopen, fb_fdopen);
FOREBAY_EXPORT(freopen, fb_freopen);
FOREBAY_EXPORT(freopen64, fb_freopen);
FOREBAY_EXPORT(fclose, fb_fclose);
FOREBAY_EXPORT(_IO_fclose, fb_fclose);
FOREBAY_EXPORT(pclose, fb_pclose);
FOREBAY_EXPORT(tmpfile, fb_tmpfile);
FOREBAY_EXPORT(tmpfile64, fb_tmpfile);
FOREBAY_EXPORT(vdprintf, fb_vdprintf);
FOREBAY_EXPORT(dprintf, fb_dprintf);
FOREBAY_EXPORT(__vdprintf_chk, fb_vdprintf_chk);
FOREBAY_EXPORT(__dprintf_chk, fb_dprintf_chk);
