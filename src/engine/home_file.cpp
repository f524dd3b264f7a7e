#include "engine/home_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <optional>

#include "base/format.hpp"
#include "engine/core.hpp"
#include "os/own_file_size.hpp"
#include "os/private_file.hpp"

namespace forebay {

Result<std::shared_ptr<HomeFile>> HomeFile::reopen(Core& core, std::uint32_t file) {
  const auto& files = core.files;
  const auto first_block = files.key(file, 0);
  const auto path = files.path(file);
  if (path.empty())
    return fail(EBADMSG, "the buffer's record of file " + std::to_string(file) + " is damaged");
  const OwnIo own;
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT) return fail(ESTALE, path + " is gone from home; its unsaved bytes are kept");
    return fail_errno(errno, "open", path);
  }
  FOREBAY_ASSIGN(const auto found, stamp_of(fd.get(), path));
  const auto& record = core.control.file(file);
  if (found.identity != HomeIdentity{record.device, record.inode, record.born_ns}) {
    return fail(ESTALE, path + " was replaced by another file; the unsaved bytes of the old one are kept");
  }
  auto speed = core.home_speeds.of(found.identity.device, path);
  auto home = std::make_shared<HomeFile>(first_block, std::move(fd), path, true, std::move(speed));
  if (!home->known(files)) return fail(ESTALE, "the buffer has forgotten " + path + " meanwhile");
  return home;
}

Result<std::shared_ptr<HomeFile>> HomeFile::again() const {
  const OwnIo own;
  Fd fd(::open(format_text("/proc/self/fd/{}", fd_.get()).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return fail_errno(errno, "open", path_);
  return std::make_shared<HomeFile>(first_block_, std::move(fd), path_, true, speed_);
}

namespace {

// Where the application opened the file to append, a plain pwrite would. Kernels before 6.9 do not know the
// flag; who hands over a descriptor that appends opens it anew there (Buffer::open_descriptor).
#ifndef RWF_NOAPPEND
constexpr int RWF_NOAPPEND = 0x20;
#endif
constinit std::atomic<int> write_flags = RWF_NOAPPEND;

ssize_t write_at(int fd, std::span<iovec> pieces, std::uint64_t offset) {
  const auto count = static_cast<int>(std::min<std::size_t>(pieces.size(), IOV_MAX));
  const auto flags = write_flags.load(std::memory_order_relaxed);
  const auto n = ::pwritev2(fd, pieces.data(), count, static_cast<off_t>(offset), flags);
  if (n >= 0 || errno != EOPNOTSUPP || flags == 0) return n;
  write_flags.store(0, std::memory_order_relaxed);
  return ::pwritev2(fd, pieces.data(), count, static_cast<off_t>(offset), 0);
}

}  // namespace

Status HomeFile::write(std::span<iovec> pieces, std::uint64_t offset) const {
  std::uint64_t written = 0;
  return write_counting(pieces, offset, written);
}

Result<std::uint64_t> HomeFile::write_some(std::span<iovec> pieces, std::uint64_t offset) const {
  std::uint64_t written = 0;
  const auto status = write_counting(pieces, offset, written);
  if (!status && written == 0) return std::unexpected(status.error());
  return written;
}

Status HomeFile::write_counting(std::span<iovec> pieces, std::uint64_t offset, std::uint64_t& written) const {
  const OwnIo own;
  const auto began = std::chrono::steady_clock::now();
  // Whoever asks for more than its limit is not killed over what was taken: nor is it by the kernel.
  std::optional<OwnFileSize> after_the_first;
  while (!pieces.empty()) {
    if (written != 0 && !after_the_first) after_the_first.emplace();
    ssize_t n = write_at(fd_.get(), pieces, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, "write", path_);
    if (n == 0) return fail(EIO, "home took no byte of a write to " + path_);
    offset += static_cast<std::uint64_t>(n);
    written += static_cast<std::uint64_t>(n);
    while (n > 0) {
      auto& piece = pieces.front();
      const auto step = std::min(static_cast<std::size_t>(n), piece.iov_len);
      piece.iov_base = static_cast<std::byte*>(piece.iov_base) + step;
      piece.iov_len -= step;
      n -= static_cast<ssize_t>(step);
      if (piece.iov_len == 0) pieces = pieces.subspan(1);
    }
  }
  const auto took = std::chrono::steady_clock::now() - began;
  speed_->note(written, static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
  return {};
}

Result<std::uint64_t> HomeFile::read(std::byte* to, std::uint64_t size, std::uint64_t offset) const {
  const OwnIo own;
  auto done = read_fully(fd_.get(), to, size, offset);
  if (!done) return fail_errno(done.error().code, "read", path_);
  return done;
}

}  // namespace forebay
