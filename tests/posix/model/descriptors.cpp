// Descriptors: what they are made of, and what is done to their files.
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "model/call.hpp"

namespace model {
namespace {

std::string op_open(Call& call) {
  const auto slot = static_cast<std::size_t>(call.slot());
  const auto name = call.name();
  int flags = call.pick({O_RDWR, O_RDWR, O_RDONLY, O_WRONLY});
  const auto more = call.next();
  if (more % 2 == 0) flags |= O_CREAT;
  if (more % 7 == 0) flags |= O_TRUNC;
  if (more % 11 == 0) flags |= O_EXCL;
  if (more % 5 == 0) flags |= O_APPEND;
  if (more % 29 == 0) flags |= O_SYNC;
  if (slots[slot] >= 0) ::close(slots[slot]);
  slots[slot] = (more >> 8) % 3 == 0 ? ::openat(AT_FDCWD, name.c_str(), flags, 0644)
                                     : ::open(name.c_str(), flags, 0644);
  return " flags " + std::to_string(flags) + said(slots[slot] < 0 ? -1 : 0);
}

std::string op_tmpfile(Call& call) {
  const auto slot = static_cast<std::size_t>(call.slot());
  if (slots[slot] >= 0) ::close(slots[slot]);
  slots[slot] = ::open(".", O_TMPFILE | O_RDWR, 0600);
  return said(slots[slot] < 0 ? -1 : 0);
}

std::string op_close(Call& call) {
  const auto slot = static_cast<std::size_t>(call.slot());
  const int fd = slots[slot];
  slots[slot] = -1;
  return said(::close(fd));
}

std::string op_dup(Call& call) {
  const auto from = static_cast<std::size_t>(call.slot());
  const auto to = static_cast<std::size_t>(call.slot());
  const auto way = call.next() % 3;
  if (way == 0 && slots[to] >= 0 && from != to) return said(::dup2(slots[from], slots[to]) < 0 ? -1 : 0);
  const int fd = way == 1 ? ::fcntl(slots[from], F_DUPFD_CLOEXEC, 20) : ::dup(slots[from]);
  const int error = errno;
  if (fd >= 0) {
    if (slots[to] >= 0) ::close(slots[to]);
    slots[to] = fd;
  }
  errno = error;
  return said(fd < 0 ? -1 : 0);
}

std::string op_flags(Call& call) {
  const int fd = call.fd();
  if (call.next() % 3 == 0) return said(::fcntl(fd, F_SETFL, call.next() % 2 == 0 ? O_APPEND : 0));
  const int flags = ::fcntl(fd, F_GETFL);
  return said(flags < 0 ? -1 : flags & (O_ACCMODE | O_APPEND));
}

std::string op_lock(Call& call) {
  const int fd = call.fd();
  return said(::flock(fd, call.pick({LOCK_EX | LOCK_NB, LOCK_SH | LOCK_NB, LOCK_UN})));
}

std::string op_sync(Call& call) {
  const int fd = call.fd();
  return said(call.next() % 2 == 0 ? ::fsync(fd) : ::fdatasync(fd));
}

std::string op_truncate(Call& call) {
  if (call.next() % 3 == 0) {
    const auto name = call.name();
    return said(::truncate(name.c_str(), call.offset()));
  }
  const int fd = call.fd();
  return said(::ftruncate(fd, call.offset()));
}

std::string op_allocate(Call& call) {
  const int fd = call.fd();
  const auto offset = call.offset();
  const auto length = static_cast<off_t>(call.length());
  const auto which = call.next() % 7;
  if (which == 0) return " posix" + std::to_string(::posix_fallocate(fd, offset, length));
  constexpr int kModes[] = {0,
                            FALLOC_FL_KEEP_SIZE,
                            FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            FALLOC_FL_ZERO_RANGE,
                            FALLOC_FL_COLLAPSE_RANGE,
                            FALLOC_FL_INSERT_RANGE};
  const int mode = kModes[which - 1];
  // These take whole blocks only.
  const bool blocks = (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0;
  const auto whole = [&](off_t value) { return blocks && value > 0 ? value - value % 4096 : value; };
  return " mode " + std::to_string(mode) + said(::fallocate(fd, mode, whole(offset), whole(length)));
}

std::string op_reopen(Call& call) {
  const int from = call.fd();
  const auto slot = static_cast<std::size_t>(call.slot());
  const int flags = call.pick({O_RDONLY, O_RDWR, O_WRONLY | O_APPEND, O_RDWR | O_TRUNC});
  const int fd = ::open(("/proc/self/fd/" + std::to_string(from)).c_str(), flags);
  const int why = errno;
  if (fd >= 0) {
    if (slots[slot] >= 0) ::close(slots[slot]);
    slots[slot] = fd;
  }
  errno = why;
  return " flags " + std::to_string(flags) + said(fd < 0 ? -1 : 0);
}

std::string op_temporary(Call& call) {
  const auto slot = static_cast<std::size_t>(call.slot());
  if (slots[slot] >= 0) ::close(slots[slot]);
  char made[] = "t-XXXXXX";
  slots[slot] = ::mkostemp(made, call.pick({0, O_APPEND, O_CLOEXEC}));
  if (slots[slot] < 0) return said(-1);
  auto text = said(::write(slots[slot], "temporary", 9));
  if (call.next() % 2 == 0) return text + said(::unlink(made));
  text += said(::rename(made, call.name().c_str()));
  // Nothing is left that has a name of its own.
  ::unlink(made);
  return text;
}

std::string op_record_lock(Call& call) {
  const int fd = call.fd();
  struct flock lock{};
  lock.l_type = call.pick<short>({F_RDLCK, F_WRLCK, F_UNLCK});
  lock.l_whence = SEEK_SET;
  lock.l_start = call.next() % 100;
  lock.l_len = call.next() % 50;
  return said(::fcntl(fd, call.next() % 2 == 0 ? F_SETLK : F_OFD_SETLK, &lock));
}

std::string op_direct(Call& call) {
  const auto name = call.name();
  const int fd = ::open(name.c_str(), O_RDWR | O_DIRECT);
  if (fd < 0) return said(-1);
  alignas(4096) static char room[8192];
  const auto offset = static_cast<off_t>(call.next() % 8 * 4096);
  const auto n = ::pread(fd, room, 4096, offset);
  auto text = said(n) + " hash " + std::to_string(n > 0 ? hash(room, static_cast<std::size_t>(n)) : 0);
  if (call.next() % 2 == 0) text += said(::pwrite(fd, room, 4096, offset));
  ::close(fd);
  return text;
}

std::string op_advise(Call& call) {
  const int fd = call.fd();
  const auto which = call.next() % 4;
  if (which == 0) return said(::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
  if (which == 1) return said(::readahead(fd, 0, 100'000));
  if (which == 2) return said(::syncfs(fd));
  return said(::posix_fadvise(fd, call.offset(), 50'000,
                              call.pick({POSIX_FADV_DONTNEED, POSIX_FADV_WILLNEED, POSIX_FADV_SEQUENTIAL,
                                         POSIX_FADV_RANDOM, POSIX_FADV_NORMAL})));
}

std::string op_open_by_how(Call& call) {
  const auto slot = static_cast<std::size_t>(call.slot());
  const auto name = call.name();
  open_how how{};
  how.flags = call.pick<std::uint64_t>({O_RDWR, O_RDONLY, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_TRUNC});
  how.mode = (how.flags & O_CREAT) != 0 ? 0644 : 0;
  how.resolve = call.pick<std::uint64_t>({0, RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS});
  if (slots[slot] >= 0) ::close(slots[slot]);
  slots[slot] = static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, name.c_str(), &how, sizeof how));
  return " flags " + std::to_string(how.flags) + said(slots[slot] < 0 ? -1 : 0);
}

std::string op_close_range(Call& call) {
  const auto slot = static_cast<std::size_t>(call.slot());
  const int fd = slots[slot];
  if (fd < 0) return " none";
  const auto one = static_cast<unsigned>(fd);
  if (call.next() % 3 == 0) return said(::close_range(one, one, CLOSE_RANGE_CLOEXEC));
  slots[slot] = -1;
  return said(::close_range(one, one, 0));
}

std::string op_sync_all(Call&) {
  ::sync();
  return " done";
}

constexpr Named kTable[] = {
    {"open by how", op_open_by_how},
    {"close range", op_close_range},
    {"sync all", op_sync_all},
    {"open", op_open},
    {"open", op_open},
    {"open", op_open},
    {"tmpfile", op_tmpfile},
    {"close", op_close},
    {"dup", op_dup},
    {"flags", op_flags},
    {"lock", op_lock},
    {"sync", op_sync},
    {"truncate", op_truncate},
    {"allocate", op_allocate},
    {"reopen", op_reopen},
    {"temporary", op_temporary},
    {"record lock", op_record_lock},
    {"direct", op_direct},
    {"advise", op_advise},
};

}  // namespace

std::span<const Named> descriptors() { return kTable; }

}  // namespace model
