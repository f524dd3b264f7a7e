// Calls by which the kernel reaches a file's bytes itself: what is unsaved goes home first.
#include <stdarg.h>

#include "door/posix/shim/opened.hpp"

using namespace forebay::posix;

namespace {

bool drained(int fd, const char* why) { return !buffered(fd) || prepared(&Engine::drain, fd, why); }

// After the kernel wrote into it.
template <class R>
R and_met(R result, int fd) {
  if (result > 0 && buffered(fd)) (void)prepared(&Engine::changed_at_home, fd, 1);
  return result;
}

bool made_direct(int fd, const char* why) { return !buffered(fd) || prepared(&Engine::go_direct, fd, why); }

}  // namespace

FOREBAY_CALL ssize_t fb_sendfile(int out, int in, off_t* offset, size_t count) {
  if (!drained(in, "sendfile") || !drained(out, "sendfile")) return -1;
  return and_met(real.sendfile(out, in, offset, count), out);
}

FOREBAY_CALL ssize_t fb_splice(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size,
                               unsigned flags) {
  if (!drained(in, "splice") || !drained(out, "splice")) return -1;
  return and_met(real.splice(in, in_offset, out, out_offset, size, flags), out);
}

FOREBAY_CALL ssize_t fb_copy_file_range(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size,
                                        unsigned flags) {
  if (!drained(in, "copy_file_range") || !drained(out, "copy_file_range")) return -1;
  return and_met(real.copy_file_range(in, in_offset, out, out_offset, size, flags), out);
}

FOREBAY_CALL int fb_aio_read(aiocb* control) {
  if (control != nullptr && !made_direct(control->aio_fildes, "POSIX aio")) return -1;
  return real.aio_read(control);
}
FOREBAY_CALL int fb_aio_write(aiocb* control) {
  if (control != nullptr && !made_direct(control->aio_fildes, "POSIX aio")) return -1;
  return real.aio_write(control);
}
FOREBAY_CALL int fb_aio_fsync(int operation, aiocb* control) {
  if (control != nullptr && !made_direct(control->aio_fildes, "POSIX aio")) return -1;
  return real.aio_fsync(operation, control);
}
FOREBAY_CALL int fb_lio_listio(int mode, aiocb* const* list, int count, sigevent* event) {
  for (int i = 0; list != nullptr && i < count; ++i) {
    if (list[i] != nullptr && !made_direct(list[i]->aio_fildes, "POSIX aio")) return -1;
  }
  return real.lio_listio(mode, list, count, event);
}

FOREBAY_EXPORT(sendfile, fb_sendfile);
FOREBAY_EXPORT(sendfile64, fb_sendfile);
FOREBAY_EXPORT(splice, fb_splice);
FOREBAY_EXPORT(copy_file_range, fb_copy_file_range);
FOREBAY_EXPORT(aio_read, fb_aio_read);
FOREBAY_EXPORT(aio_read64, fb_aio_read);
FOREBAY_EXPORT(aio_write, fb_aio_write);
FOREBAY_EXPORT(aio_write64, fb_aio_write);
FOREBAY_EXPORT(aio_fsync, fb_aio_fsync);
FOREBAY_EXPORT(aio_fsync64, fb_aio_fsync);
FOREBAY_EXPORT(lio_listio, fb_lio_listio);
FOREBAY_EXPORT(lio_listio64, fb_lio_listio);
