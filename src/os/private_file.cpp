#include "os/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/own_file_size.hpp"

namespace forebay {
namespace {

// Small steps keep a signal or a kill from waiting for gigabytes.
constexpr std::uint64_t kReserveStep = 64u << 20;
constexpr std::uint64_t kReserveStepLeast = 256u << 10;

std::unexpected<Error> refuse(const std::string& path, const char* why) {
  return fail(EPERM, "refusing " + path + ": " + why);
}

}  // namespace

Result<Fd> open_private_directory(const std::string& path, Create create) {
  if (create != Create::kNever && ::mkdir(path.c_str(), 0700) != 0 &&
      (errno != EEXIST || create == Create::kExclusive)) {
    return fail_errno(errno, "make directory", path);
  }
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    if (errno == ELOOP || errno == ENOTDIR)
      return refuse(path, "it is not a directory of our own but a link or a file");
    return fail_errno(errno, "open directory", path);
  }
  struct stat found{};
  if (::fstat(fd.get(), &found) != 0) return fail_errno(errno, "examine", path);
  if (found.st_uid != ::geteuid()) return refuse(path, "it belongs to another user");
  if ((found.st_mode & 0077) != 0) return refuse(path, "others may enter it (its mode must be 0700)");
  return fd;
}

Result<Fd> open_private_file(const Fd& directory, const std::string& name, Create create, int flags) {
  // O_NONBLOCK keeps a FIFO in the way from hanging the open.
  flags |= O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  if (create == Create::kIfMissing) flags |= O_CREAT;
  if (create == Create::kExclusive) flags |= O_CREAT | O_EXCL;
  Fd fd(::openat(directory.get(), name.c_str(), flags, 0600));
  if (!fd) {
    if (errno == ELOOP) return refuse(name, "a symbolic link lies in its place");
    return fail_errno(errno, "open", name);
  }
  struct stat found{};
  if (::fstat(fd.get(), &found) != 0) return fail_errno(errno, "examine", name);
  if (!S_ISREG(found.st_mode)) return refuse(name, "it is not a regular file");
  if (found.st_uid != ::geteuid()) return refuse(name, "it belongs to another user");
  if ((found.st_mode & 0077) != 0) return refuse(name, "others may read it (its mode must be 0600)");
  if (found.st_nlink > 1) return refuse(name, "it has a second name (a hard link)");
  // io_uring would answer EAGAIN instead of waiting for the disk.
  if (::fcntl(fd.get(), F_SETFL, flags & (O_DIRECT | O_APPEND)) != 0)
    return fail_errno(errno, "prepare", name);
  return fd;
}

Status reserve_storage(int file, std::uint64_t from, std::uint64_t to, const std::string& name) {
  const OwnFileSize own_size;
  struct stat before{};
  if (::fstat(file, &before) != 0) return fail_errno(errno, "examine", name);
  // Asking first keeps a hopeless wish from filling the file system for a moment.
  struct statvfs room{};
  const auto end = std::max(from, static_cast<std::uint64_t>(before.st_size));
  if (to > end && ::fstatvfs(file, &room) == 0 && room.f_blocks != 0 &&
      (to - end) / room.f_frsize > room.f_bfree) {
    return fail_errno(ENOSPC, "reserve room for", name);
  }
  // Not posix_fallocate: where the file system cannot promise storage it writes a byte into every block
  // instead, which races with other writers and promises nothing on a compressing file system.
  auto step = kReserveStep;
  for (std::uint64_t at = from; at < to;) {
    const auto length = std::min(to - at, step);
    if (::fallocate(file, 0, static_cast<off_t>(at), static_cast<off_t>(length)) == 0) {
      at += length;
      continue;
    }
    const int code = errno;
    if (code == EINTR) {
      // tmpfs starts from scratch after a signal: under a profiler's timer a large step would never end.
      step = std::max(step / 2, kReserveStepLeast);
      continue;
    }
    // Storage past the old end was not there before and nobody has been told of it. If even that fails, it is
    // merely allocated too early.
    if (at > static_cast<std::uint64_t>(before.st_size)) [[maybe_unused]]
      const int ignored = ::ftruncate(file, before.st_size);
    return fail_errno(code, "reserve room for", name);
  }
  return {};
}

std::string path_of(int fd) {
  std::array<char, 4096> path{};
  const ssize_t n = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path.data(), path.size());
  if (n <= 0 || static_cast<std::size_t>(n) == path.size()) return {};
  return {path.data(), static_cast<std::size_t>(n)};
}

Result<std::uint64_t> read_fully(int fd, void* data, std::uint64_t size, std::uint64_t offset) {
  auto* to = static_cast<char*>(data);
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(fd, to + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, "read", "file");
    if (n == 0) break;
    done += static_cast<std::uint64_t>(n);
  }
  return done;
}

Status write_fully(int fd, const void* data, std::uint64_t size, std::uint64_t offset) {
  const OwnFileSize own_size;
  const auto* from = static_cast<const char*>(data);
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t n = ::pwrite(fd, from + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail_errno(n < 0 ? errno : EIO, "write", "file");
    done += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace forebay
