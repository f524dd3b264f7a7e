#include "model/worker.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <vector>

extern char** environ;

namespace model {
namespace {

constexpr std::size_t kMost = 70'000;  // bytes of one transfer
constexpr off_t kReach = 300'000;
constexpr time_t kMark = 1'234'567'890;

std::array<int, kSlots> slots = [] {
  std::array<int, kSlots> none{};
  none.fill(-1);
  return none;
}();
std::array<FILE*, kStreams> streams{};

struct Call {
  const Order& order;
  int at = 0;
  std::string words;
  std::uint32_t next() { return order.random[at++ % 6]; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[next() % values.size()];
  }
  int slot() {
    const auto n = static_cast<int>(next() % kSlots);
    words += " slot" + std::to_string(n);
    return n;
  }
  FILE*& stream() {
    const auto n = next() % kStreams;
    words += " stream" + std::to_string(n);
    return streams[n];
  }
  std::string name() {
    auto text = "f" + std::to_string(next() % kFiles);
    words += " " + text;
    return text;
  }
  std::size_t length() {
    const auto n = next();
    const std::size_t size = n % 7 == 0 ? 0 : n % 3 == 0 ? n % kMost : n % 600;
    words += " length " + std::to_string(size);
    return size;
  }
  off_t offset() {
    const auto n = next();
    const off_t to = n % 11 == 0 ? -1 : static_cast<off_t>(n % 5 == 0 ? n % kReach : n % 9000);
    words += " offset " + std::to_string(to);
    return to;
  }
};

std::uint64_t hash(const void* data, std::size_t size) {
  std::uint64_t h = 1469598103934665603ULL;
  for (std::size_t i = 0; i < size; ++i)
    h = (h ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ULL;
  return h;
}

std::vector<char> bytes(std::uint32_t seed, std::size_t size) {
  std::vector<char> all(size + 1);
  for (auto& c : all) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return all;
}

std::string said(long result) {
  return " = " + std::to_string(result) + (result < 0 ? " errno " + std::to_string(errno) : "");
}

std::string got(long result, const std::vector<char>& data) {
  auto text = said(result);
  if (result > 0) text += " hash " + std::to_string(hash(data.data(), static_cast<std::size_t>(result)));
  return text;
}

std::string described(int result, const struct stat& found) {
  if (result != 0) return said(result);
  const bool marked = found.st_mtim.tv_sec == kMark;
  return " size " + std::to_string(found.st_size) + " links " + std::to_string(found.st_nlink) + " mode " +
         std::to_string(found.st_mode) + (marked ? " marked" : "");
}

int fd_of(Call& call) { return slots[static_cast<std::size_t>(call.slot())]; }

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

std::string op_read(Call& call) {
  const int fd = fd_of(call);
  std::vector<char> data(call.length() + 1);
  return got(::read(fd, data.data(), data.size() - 1), data);
}

std::string op_write(Call& call) {
  const int fd = fd_of(call);
  const auto data = bytes(call.next(), call.length());
  return said(::write(fd, data.data(), data.size() - 1));
}

std::string op_pread(Call& call) {
  const int fd = fd_of(call);
  std::vector<char> data(call.length() + 1);
  return got(::pread(fd, data.data(), data.size() - 1, call.offset()), data);
}

std::string op_pwrite(Call& call) {
  const int fd = fd_of(call);
  const auto data = bytes(call.next(), call.length());
  return said(::pwrite(fd, data.data(), data.size() - 1, call.offset()));
}

std::string op_vectors(Call& call) {
  const int fd = fd_of(call);
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
  const int fd = fd_of(call);
  const int whence = call.pick({SEEK_SET, SEEK_CUR, SEEK_END, SEEK_END});
  return " whence " + std::to_string(whence) +
         said(::lseek(fd, call.offset() - (call.next() % 4 == 0 ? 500 : 0), whence));
}

std::string op_truncate(Call& call) {
  if (call.next() % 3 == 0) {
    const auto name = call.name();
    return said(::truncate(name.c_str(), call.offset()));
  }
  const int fd = fd_of(call);
  return said(::ftruncate(fd, call.offset()));
}

std::string op_sync(Call& call) {
  const int fd = fd_of(call);
  return said(call.next() % 2 == 0 ? ::fsync(fd) : ::fdatasync(fd));
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
  const int fd = fd_of(call);
  if (call.next() % 3 == 0) return said(::fcntl(fd, F_SETFL, call.next() % 2 == 0 ? O_APPEND : 0));
  const int flags = ::fcntl(fd, F_GETFL);
  return said(flags < 0 ? -1 : flags & (O_ACCMODE | O_APPEND));
}

std::string op_stat(Call& call) {
  struct stat found{};
  switch (call.next() % 4) {
    case 0: {
      const int fd = fd_of(call);
      const int result = ::fstat(fd, &found);
      return described(result, found);
    }
    case 1: {
      const auto name = call.name();
      const int result = ::stat(name.c_str(), &found);
      return described(result, found);
    }
    case 2: {
      const auto name = call.name();
      const int result = ::fstatat(AT_FDCWD, name.c_str(), &found, AT_SYMLINK_NOFOLLOW);
      return described(result, found);
    }
    default: {
      const auto name = call.name();
      struct statx more{};
      const int result = ::statx(AT_FDCWD, name.c_str(), 0, STATX_BASIC_STATS, &more);
      return result != 0 ? said(result) : " size " + std::to_string(more.stx_size);
    }
  }
}

std::string op_names(Call& call) {
  const auto which = call.next() % 5;
  const auto one = call.name();
  if (which < 2) return said(which == 0 ? ::unlink(one.c_str()) : ::unlinkat(AT_FDCWD, one.c_str(), 0));
  const auto two = call.name();
  if (which == 2) return said(::link(one.c_str(), two.c_str()));
  if (which == 3)
    return said(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(),
                            call.pick<unsigned>({0, RENAME_NOREPLACE, RENAME_EXCHANGE})));
  return said(::rename(one.c_str(), two.c_str()));
}

std::string op_times(Call& call) {
  const timespec times[2] = {{kMark, 5}, {kMark, 7}};
  if (call.next() % 2 == 0) return said(::futimens(fd_of(call), times));
  return said(::utimensat(AT_FDCWD, call.name().c_str(), times, 0));
}

std::string op_fopen(Call& call) {
  auto*& stream = call.stream();
  const auto name = call.name();
  const char* const mode = call.pick<const char*>({"r", "r+", "w", "w+", "a", "a+"});
  if (stream != nullptr && call.next() % 4 == 0) {
    stream = ::freopen(name.c_str(), mode, stream);
    return std::string(" re ") + mode + said(stream == nullptr ? -1 : 0);
  }
  if (stream != nullptr) ::fclose(stream);
  stream = ::fopen(name.c_str(), mode);
  return std::string(" ") + mode + said(stream == nullptr ? -1 : 0);
}

std::string op_stream(Call& call) {
  auto*& stream = call.stream();
  if (stream == nullptr) return " none";
  const auto which = call.next() % 8;
  std::string text = " kind " + std::to_string(which);
  errno = 0;
  if (which == 0) {
    std::vector<char> data(call.length() + 1);
    ::fseek(stream, 0, SEEK_CUR);
    const auto n = ::fread(data.data(), 1, data.size() - 1, stream);
    text += got(static_cast<long>(n), data);
  } else if (which <= 2) {
    const auto data = bytes(call.next(), call.length());
    ::fseek(stream, 0, SEEK_CUR);
    text += said(static_cast<long>(::fwrite(data.data(), 1, data.size() - 1, stream)));
  } else if (which == 3) {
    text += said(::fseek(stream, call.offset(), call.pick({SEEK_SET, SEEK_END})));
    text += said(::ftell(stream));
  } else if (which == 4) {
    text += said(::fflush(stream));
  } else if (which == 5) {
    text += said(::fprintf(stream, "line %u\n", call.next()));
  } else if (which == 6) {
    text += said(::ftell(stream));
  } else {
    text += said(::fclose(stream));
    stream = nullptr;
  }
  if (stream != nullptr) text += ::ferror(stream) != 0 ? " error" : "";
  if (stream != nullptr) ::clearerr(stream);
  return text;
}

std::string op_dprintf(Call& call) { return said(::dprintf(fd_of(call), "text %u\n", call.next())); }

std::string op_map(Call& call) {
  const int fd = fd_of(call);
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

std::string op_copy(Call& call) {
  const int in = fd_of(call);
  const int out = fd_of(call);
  const auto length = call.length();
  if (call.next() % 3 == 0) return " sendfile" + said(::sendfile(out, in, nullptr, length));
  return said(::copy_file_range(in, nullptr, out, nullptr, length, 0));
}

std::string op_allocate(Call& call) {
  const int fd = fd_of(call);
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

std::string op_mode(Call& call) {
  const auto mode = call.pick<mode_t>({0644, 0444, 04755, 0600});
  return said(call.next() % 2 == 0 ? ::fchmod(fd_of(call), mode) : ::chmod(call.name().c_str(), mode));
}

// A name for what may have none, or another one.
std::string op_name_of(Call& call) {
  const auto path = "/proc/self/fd/" + std::to_string(fd_of(call));
  return said(::linkat(AT_FDCWD, path.c_str(), AT_FDCWD, call.name().c_str(), AT_SYMLINK_FOLLOW));
}

std::string op_lock(Call& call) {
  const int fd = fd_of(call);
  return said(::flock(fd, call.pick({LOCK_EX | LOCK_NB, LOCK_SH | LOCK_NB, LOCK_UN})));
}

std::string op_syscall(Call& call) {
  const int fd = fd_of(call);
  const auto data = bytes(call.next(), call.length() % 1000);
  return said(::syscall(SYS_write, fd, data.data(), data.size() - 1));
}

// A child that uses its parent's descriptors and goes.
std::string op_fork(Call& call) {
  const int fd = fd_of(call);
  const auto data = bytes(call.next(), call.length());
  const bool vforks = call.next() % 4 == 0;
  const pid_t child = vforks ? ::vfork() : ::fork();
  if (child == 0) {
    if (vforks) {
      ::close(fd);
      ::_exit(7);
    }
    const auto n = ::write(fd, data.data(), data.size() - 1);
    ::_exit(n == static_cast<ssize_t>(data.size() - 1) ? 1 : n < 0 ? 100 + errno % 100 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return " child " + std::to_string(status) + said(::lseek(fd, 0, SEEK_CUR));
}

// Another program that inherits one.
std::string op_spawn(Call& call) {
  const int fd = fd_of(call);
  if (fd < 0) return " none";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, fd, 1);
  const auto words = "w" + std::to_string(call.next());
  char* const argv[] = {const_cast<char*>("echo"), const_cast<char*>(words.c_str()), nullptr};
  pid_t child = 0;
  int status = ::posix_spawn(&child, "/bin/echo", &actions, nullptr, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (status != 0) return " not " + std::to_string(status);
  ::waitpid(child, &status, 0);
  return " child " + std::to_string(status) + said(::lseek(fd, 0, SEEK_CUR));
}

using Operation = std::string (*)(Call&);
struct Named {
  const char* name;
  Operation operation;
};
// Those that are made more often stand here more often.
constexpr Named kTable[] = {
    {"open", op_open},     {"open", op_open},       {"open", op_open},         {"tmpfile", op_tmpfile},
    {"close", op_close},   {"read", op_read},       {"read", op_read},         {"write", op_write},
    {"write", op_write},   {"write", op_write},     {"pread", op_pread},       {"pread", op_pread},
    {"pwrite", op_pwrite}, {"pwrite", op_pwrite},   {"vectors", op_vectors},   {"vectors", op_vectors},
    {"lseek", op_lseek},   {"lseek", op_lseek},     {"truncate", op_truncate}, {"sync", op_sync},
    {"dup", op_dup},       {"flags", op_flags},     {"stat", op_stat},         {"stat", op_stat},
    {"names", op_names},   {"times", op_times},     {"fopen", op_fopen},       {"stream", op_stream},
    {"stream", op_stream}, {"stream", op_stream},   {"stream", op_stream},     {"dprintf", op_dprintf},
    {"map", op_map},       {"copy", op_copy},       {"allocate", op_allocate}, {"lock", op_lock},
    {"mode", op_mode},     {"name of", op_name_of}, {"syscall", op_syscall},   {"fork", op_fork},
    {"spawn", op_spawn}};

}  // namespace

const int kOperations = static_cast<int>(std::size(kTable));

std::string carry_out(const Order& order) {
  const auto& named = kTable[order.operation % std::size(kTable)];
  Call call{.order = order, .words = named.name};
  std::string result;
  // Some by a thread of their own.
  if (order.random[5] % 8 == 0) {
    std::thread([&] { result = named.operation(call); }).join();
  } else {
    result = named.operation(call);
  }
  return call.words + result;
}

std::string finish() {
  std::string text = "end";
  for (const int fd : slots) text += fd < 0 ? "" : said(::close(fd));
  for (auto* const stream : streams) text += stream == nullptr ? "" : said(::fclose(stream));
  return text;
}

}  // namespace model
