// Reading, writing and positions.
#include <aio.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include "model/call.hpp"

namespace model {
namespace {

std::string op_read(Call& call) {
  const int fd = call.fd();
  std::vector<char> data(call.length() + 1);
  return got(::read(fd, data.data(), data.size() - 1), data);
}

std::string op_write(Call& call) {
  const int fd = call.fd();
  const auto data = bytes(call.next(), call.length());
  return said(::write(fd, data.data(), data.size() - 1));
}

std::string op_pread(Call& call) {
  const int fd = call.fd();
  std::vector<char> data(call.length() + 1);
  return got(::pread(fd, data.data(), data.size() - 1, call.offset()), data);
}

std::string op_pwrite(Call& call) {
  const int fd = call.fd();
  const auto data = bytes(call.next(), call.length());
  return said(::pwrite(fd, data.data(), data.size() - 1, call.offset()));
}

std::string op_vectors(Call& call) {
  const int fd = call.fd();
  auto one = bytes(call.next(), call.length());
  auto two = bytes(call.next(), call.length());
  const iovec pieces[3] = {{one.data(), one.size() - 1}, {nullptr, 0}, {two.data(), two.size() - 1}};
  const int which = static_cast<int>(call.next() % 6);
  long n = 0;
  if (which == 0) n = ::readv(fd, pieces, 3);
  if (which == 1) n = ::writev(fd, pieces, 3);
  if (which == 2) n = ::preadv(fd, pieces, 3, call.offset());
  if (which == 3) n = ::pwritev(fd, pieces, 3, call.offset());
  if (which == 4) n = ::preadv2(fd, pieces, 3, call.offset(), 0);
  if (which == 5) n = ::pwritev2(fd, pieces, 3, call.offset(), 0);
  return " kind " + std::to_string(which) + said(n) + " hash " +
         std::to_string(hash(one.data(), one.size() - 1)) + std::to_string(hash(two.data(), two.size() - 1));
}

std::string op_lseek(Call& call) {
  const int fd = call.fd();
  const int whence = call.pick({SEEK_SET, SEEK_CUR, SEEK_END, SEEK_END});
  return " whence " + std::to_string(whence) +
         said(::lseek(fd, call.offset() - (call.next() % 4 == 0 ? 500 : 0), whence));
}

std::string op_copy(Call& call) {
  const int in = call.fd();
  const int out = call.fd();
  const auto length = call.length();
  if (call.next() % 3 == 0) return " sendfile" + said(::sendfile(out, in, nullptr, length));
  return said(::copy_file_range(in, nullptr, out, nullptr, length, 0));
}

std::string op_syscall(Call& call) {
  const int fd = call.fd();
  const auto data = bytes(call.next(), call.length() % 1000);
  return said(::syscall(SYS_write, fd, data.data(), data.size() - 1));
}

std::string op_dprintf(Call& call) { return said(::dprintf(call.fd(), "text %u\n", call.next())); }

std::string op_map(Call& call) {
  const int fd = call.fd();
  struct stat found{};
  if (::fstat(fd, &found) != 0 || found.st_size == 0) return " nothing";
  const auto size = static_cast<std::size_t>(found.st_size);
  auto* const there = static_cast<char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (there == MAP_FAILED) return said(-1);
  auto text = " hash " + std::to_string(hash(there, size));
  there[call.next() % size] = 'm';
  ::munmap(there, size);
  return text;
}

std::string op_with_flags(Call& call) {
  const int fd = call.fd();
  auto data = bytes(call.next(), call.length());
  const iovec piece{data.data(), data.size() - 1};
  const int flags = call.pick({0, RWF_DSYNC, RWF_APPEND, RWF_HIPRI});
  if (call.next() % 2 == 0 && flags != RWF_APPEND)
    return got(::preadv2(fd, &piece, 1, call.offset(), flags), data);
  return " flags " + std::to_string(flags) + said(::pwritev2(fd, &piece, 1, call.offset(), flags));
}

// Through a pipe, one way or the other.
std::string op_splice(Call& call) {
  const int fd = call.fd();
  auto length = call.length() % 30'000;
  int pipe[2];
  if (::pipe(pipe) != 0) return said(-1);
  std::vector<char> data = bytes(call.next(), length);
  std::string text;
  if (call.next() % 2 == 0) {
    text = said(::splice(fd, nullptr, pipe[1], nullptr, length, 0));
    ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
    text += got(::read(pipe[0], data.data(), length), data);
  } else {
    ::fcntl(pipe[1], F_SETFL, O_NONBLOCK);
    const auto there = ::write(pipe[1], data.data(), length);
    if (there <= 0) length = 0;
    text =
        " into" + said(::splice(pipe[0], nullptr, fd, nullptr, length, length == 0 ? SPLICE_F_NONBLOCK : 0));
  }
  const int why = errno;
  ::close(pipe[0]);
  ::close(pipe[1]);
  errno = why;
  return text;
}

// A mapping that stays, while its file is written, cut and removed. The kernel touches it: where the file has
// no byte any more it says so.
std::string op_held_map(Call& call) {
  static char* held = nullptr;
  static constexpr std::size_t kLength = 12'288;
  if (held == nullptr || call.next() % 4 == 0) {
    if (held != nullptr) ::munmap(held, kLength);
    held = nullptr;
    void* const made = ::mmap(nullptr, kLength, PROT_READ | PROT_WRITE, MAP_SHARED, call.fd(), 0);
    if (made == MAP_FAILED) return said(-1);
    held = static_cast<char*>(made);
    return " mapped";
  }
  int pipe[2];
  if (::pipe2(pipe, O_NONBLOCK) != 0) return said(-1);
  std::vector<char> data(201);
  const auto offset = static_cast<off_t>(call.next() % (kLength - 200));
  auto* const at = held + offset;
  auto text = " look" + said(::write(pipe[1], at, 200));
  const auto n = ::read(pipe[0], data.data(), 200);
  // What is in the last page behind the end is there until the kernel writes the page.
  char name[80];
  std::snprintf(name, sizeof name, "/proc/self/map_files/%lx-%lx", reinterpret_cast<unsigned long>(held),
                reinterpret_cast<unsigned long>(held) + kLength);
  struct stat found{};
  const off_t end = ::stat(name, &found) == 0 ? found.st_size : 0;
  const auto inside = std::clamp<off_t>(end - offset, 0, n > 0 ? n : 0);
  text += " hash " + std::to_string(hash(data.data(), static_cast<std::size_t>(inside)));
  if (::write(pipe[1], "mapped", 6) == 6) text += " change" + said(::read(pipe[0], at, 6));
  ::close(pipe[0]);
  ::close(pipe[1]);
  return text;
}

// Two threads at once, each in a half of its own.
std::string op_threads(Call& call) {
  const int fd = call.fd();
  if (fd < 0 || (::fcntl(fd, F_GETFL) & O_APPEND) != 0) return " not";
  const auto data = bytes(call.next(), call.length());
  const auto at = call.offset();
  if (at < 0) return " not";
  const auto half = (data.size() - 1) / 2;
  long first = 0;
  long second = 0;
  std::thread other([&] { first = ::pwrite(fd, data.data(), half, at); });
  second = ::pwrite(fd, data.data() + half, data.size() - 1 - half, at + static_cast<off_t>(half));
  other.join();
  return " = " + std::to_string(first) + " " + std::to_string(second);
}

// Where holes begin is the file system's affair; where there are none it is the same everywhere.
std::string op_holes(Call& call) {
  const int fd = call.fd();
  const auto from = call.offset();
  const bool hole = call.next() % 2 == 0;
  const auto at = ::lseek(fd, from, hole ? SEEK_HOLE : SEEK_DATA);
  if (at < 0) return hole ? said(-1) : errno == ENXIO ? " no data, or the end" : said(-1);
  return at >= from ? " there" : " before";
}

std::string op_aio(Call& call) {
  const int fd = call.fd();
  auto data = bytes(call.next(), call.length());
  aiocb control{};
  control.aio_fildes = fd;
  control.aio_buf = data.data();
  control.aio_nbytes = data.size() - 1;
  control.aio_offset = call.offset();
  const auto which = call.next() % 4;
  control.aio_lio_opcode = which % 2 == 0 ? LIO_READ : LIO_WRITE;
  aiocb* const list[] = {&control};
  const int result = which < 2    ? ::lio_listio(LIO_WAIT, list, 1, nullptr)
                     : which == 2 ? ::aio_read(&control)
                                  : ::aio_write(&control);
  auto text = " kind " + std::to_string(which) + said(result);
  if (which >= 2 && result != 0) return text;
  while (::aio_error(&control) == EINPROGRESS) ::aio_suspend(list, 1, nullptr);
  text += " error " + std::to_string(::aio_error(&control));
  const auto n = ::aio_return(&control);
  text += " returned " + std::to_string(n);
  if (which % 2 == 0 && n > 0)
    text += " hash " + std::to_string(hash(data.data(), static_cast<std::size_t>(n)));
  return text;
}

constexpr Named kTable[] = {
    {"holes", op_holes},     {"aio", op_aio},
    {"read", op_read},       {"read", op_read},
    {"write", op_write},     {"write", op_write},
    {"write", op_write},     {"pread", op_pread},
    {"pread", op_pread},     {"pwrite", op_pwrite},
    {"pwrite", op_pwrite},   {"vectors", op_vectors},
    {"vectors", op_vectors}, {"lseek", op_lseek},
    {"lseek", op_lseek},     {"copy", op_copy},
    {"syscall", op_syscall}, {"dprintf", op_dprintf},
    {"map", op_map},         {"with flags", op_with_flags},
    {"splice", op_splice},   {"held map", op_held_map},
    {"threads", op_threads},
};

}  // namespace

std::span<const Named> transfers() { return kTable; }

}  // namespace model
