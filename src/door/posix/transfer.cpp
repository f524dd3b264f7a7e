// Reading and writing at offsets and at a descriptor's own position.
//
// The position is the kernel's: descriptors share it across duplicates, forks and programs. A transfer first
// takes its part by moving on, which is atomic, and goes back by what it did not use.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "door/posix/door.hpp"
#include "door/posix/user_memory.hpp"
#include "os/fd.hpp"

namespace forebay::posix {
namespace {

constexpr std::size_t kMostAtOnce = 0x7ffff000;  // as the kernel

// The sum of the pieces, or a negative errno.
long total_of(const iovec* pieces, int count) {
  if (count < 0 || count > IOV_MAX) return -EINVAL;
  if (!touchable(pieces, static_cast<std::size_t>(count) * sizeof *pieces, Touch::kRead)) return -EFAULT;
  std::size_t total = 0;
  for (int i = 0; i < count; ++i) {
    if (pieces[i].iov_len > static_cast<std::size_t>(SSIZE_MAX) - total) return -EINVAL;
    if (!may_be_mapped(pieces[i].iov_base, pieces[i].iov_len)) return -EFAULT;
    total += pieces[i].iov_len;
  }
  return static_cast<long>(std::min(total, kMostAtOnce));
}

// Calls step(offset, bytes of a piece) one after the other until one does not take all of them.
template <class Step>
long each_piece(const iovec* pieces, int count, long total, off_t offset, Step step) {
  long done = 0;
  for (int i = 0; i < count && done < total; ++i) {
    const auto length = std::min(pieces[i].iov_len, static_cast<std::size_t>(total - done));
    const long n = step(static_cast<std::uint64_t>(offset + done), pieces[i].iov_base, length);
    if (n < 0) return done > 0 ? done : n;
    done += n;
    if (n < static_cast<long>(length)) break;
  }
  return done;
}

long in_bytes(const Result<std::uint64_t>& result) {
  if (result) return static_cast<long>(*result);
  return answer(std::unexpected(result.error()));
}

// Takes `total` bytes of the file from the position on. Negative: that cannot be.
off_t advance(int fd, long total) {
  const off_t after = ::lseek(fd, total, SEEK_CUR);
  return after < 0 ? -errno : after - total;
}

void step_back(int fd, long by) {
  if (by > 0) (void)::lseek(fd, -by, SEEK_CUR);
}

// Who shares an open file with others and writes there must not find its position beyond the end: only what
// is there to be read is taken. `total` is that much; 0 at the end.
off_t advance_within(Open& open, int fd, long& total) {
  const std::scoped_lock lock(open.position);
  const off_t now = ::lseek(fd, 0, SEEK_CUR);
  const auto size = open.file->size();
  if (now < 0) return -errno;
  if (!size) return answer(std::unexpected(size.error()));
  total = static_cast<long>(std::clamp<off_t>(static_cast<off_t>(*size) - now, 0, total));
  return total == 0 ? now : advance(fd, total);
}

// How far a file may reach is home's to say, at the write and not when it drains: a position it does not take
// lies beyond. Asked once, of a power of two.
bool home_reaches(Open& open, int fd, off_t end) {
  if (end <= open.reach.load(std::memory_order_relaxed)) [[likely]]
    return true;
  constexpr int kMost = 53;  // 16 PiB, and a buffered file is not larger (engine/file.hpp)
  const Fd probe(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                        (open.flags & O_ACCMODE) | O_CLOEXEC | O_NOCTTY));
  for (int bits = kMost; probe && bits > 32; --bits) {
    const off_t reach = off_t{1} << bits;
    if (::lseek(probe.get(), reach, SEEK_SET) != reach) continue;
    open.reach.store(reach, std::memory_order_relaxed);
    break;
  }
  return end <= open.reach.load(std::memory_order_relaxed);
}

// What is left to the kernel, in order.
long beyond(const Pin& open) {
  note("a position further than home is sure to take");
  const auto result = answer(open->file->go_direct());
  return result < 0 ? result : kPass;
}

// All that can be read of the pieces, one after the other.
std::vector<std::byte> gather(const iovec* pieces, int count, long total) {
  std::vector<std::byte> gathered;
  gathered.reserve(static_cast<std::size_t>(total));
  (void)each_piece(pieces, count, total, 0, [&](std::uint64_t, void* from, std::size_t length) {
    const auto take = [&](std::span<const std::byte> some) {
      gathered.insert(gathered.end(), some.begin(), some.end());
      return static_cast<long>(some.size());
    };
    if (!touchable(from, length, Touch::kRead)) return read_carefully(from, length, take);
    return take({static_cast<const std::byte*>(from), length});
  });
  return gathered;
}

long append(const Pin& open, int fd, const iovec* pieces, int count, long total, bool moves) {
  std::vector<std::byte> gathered;
  std::span<const std::byte> data;
  if (count == 1 && touchable(pieces[0].iov_base, static_cast<std::size_t>(total), Touch::kRead)) {
    data = {static_cast<const std::byte*>(pieces[0].iov_base), static_cast<std::size_t>(total)};
  } else {
    gathered = gather(pieces, count, total);
    if (gathered.empty()) return -EFAULT;
    data = gathered;
  }
  const auto at = open->file->append(data);
  if (!at) return answer(std::unexpected(at.error()));
  const auto size = static_cast<long>(data.size());
  if (moves) (void)::lseek(fd, static_cast<off_t>(*at) + size, SEEK_SET);
  return size;
}

long read_piece(File& file, std::uint64_t at, void* to, std::size_t length) {
  const auto fill = [&, at](std::span<std::byte> room) mutable {
    const long n = in_bytes(file.read(at, room));
    if (n > 0) at += static_cast<std::uint64_t>(n);
    return n;
  };
  if (!touchable(to, length, Touch::kWrite)) return write_carefully(to, length, fill);
  return in_bytes(file.read(at, {static_cast<std::byte*>(to), length}));
}

long write_piece(File& file, std::uint64_t at, const void* from, std::size_t length) {
  const auto use = [&, at](std::span<const std::byte> data) mutable {
    const long n = in_bytes(file.write(at, data));
    if (n > 0) at += static_cast<std::uint64_t>(n);
    return n;
  };
  if (!touchable(from, length, Touch::kRead)) return read_carefully(from, length, use);
  return in_bytes(file.write(at, {static_cast<const std::byte*>(from), length}));
}

}  // namespace

long read(int fd, const iovec* pieces, int count, off_t offset) {
  const auto open = served(fd);
  if (!open) return kPass;
  if (!open->readable()) return -EBADF;
  long total = total_of(pieces, count);
  if (total <= 0) return total;
  const bool here = offset == kHere;
  if (here) offset = open->writable() ? advance_within(*open.get(), fd, total) : advance(fd, total);
  if (offset < 0) return kPass;
  if (total == 0) return 0;
  const long done =
      each_piece(pieces, count, total, offset, [&](std::uint64_t at, void* to, std::size_t length) {
        return read_piece(*open->file, at, to, length);
      });
  if (here) step_back(fd, total - std::max(done, 0L));
  return done;
}

long write(int fd, const iovec* pieces, int count, off_t offset) {
  const auto open = served(fd);
  if (!open) return kPass;
  if (!open->writable()) return -EBADF;
  const long total = total_of(pieces, count);
  if (total <= 0) return total;
  const bool here = offset == kHere;
  // As Linux does it, pwrite appends too.
  if (open->appends()) return append(open, fd, pieces, count, total, here);
  if (here) {
    auto lock = open->readable() ? std::unique_lock(open->position) : std::unique_lock<std::mutex>();
    offset = advance(fd, total);
  }
  if (offset < 0) return beyond(open);
  off_t end = 0;
  if (__builtin_add_overflow(offset, total, &end) || !home_reaches(*open.get(), fd, end)) {
    if (here) step_back(fd, total);
    return beyond(open);
  }
  const long done =
      each_piece(pieces, count, total, offset, [&](std::uint64_t at, void* from, std::size_t length) {
        return write_piece(*open->file, at, from, length);
      });
  if (here) step_back(fd, total - std::max(done, 0L));
  return done;
}

long seek(int fd, off_t offset, int whence) {
  const auto open = served(fd);
  if (!open) return kPass;
  if (whence != SEEK_END) {
    // SEEK_DATA and SEEK_HOLE: bytes that are only staged look like holes.
    const auto result = answer(open->file->drain_all());
    return result < 0 && result != kPass ? result : kPass;
  }
  const auto size = open->file->size();
  if (!size) return answer(std::unexpected(size.error()));
  off_t target = 0;
  if (__builtin_add_overflow(static_cast<off_t>(*size), offset, &target) || target < 0) return -EINVAL;
  const off_t at = ::lseek(fd, target, SEEK_SET);
  return at < 0 ? -errno : at;
}

}  // namespace forebay::posix
