#include "door/posix/user_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "os/fd.hpp"

namespace forebay::posix {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::size_t kPiece = 1u << 20;

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;
constexpr int MADV_POPULATE_WRITE = 23;
#endif

struct Good {
  std::uintptr_t begin, end;
};
// What was found good. What can be written can be read.
struct Seen {
  std::uint32_t mappings;  // as of this count
  unsigned next[2];
  std::array<Good, 4> ranges[2];
};
constinit thread_local Seen seen{};
constinit std::atomic<std::uint32_t> mappings = 0;

bool remembered(const Seen& all, Touch how, std::uintptr_t begin, std::uintptr_t end) {
  const auto within = [&](const Good& good) { return begin >= good.begin && end <= good.end; };
  const auto among = [&](Touch kind) {
    return std::ranges::any_of(all.ranges[static_cast<int>(kind)], within);
  };
  return among(Touch::kWrite) || (how == Touch::kRead && among(Touch::kRead));
}

void remember(Touch how, std::uintptr_t begin, std::uintptr_t end) {
  auto& ranges = seen.ranges[static_cast<int>(how)];
  for (auto& good : ranges) {
    if (begin > good.end || end < good.begin) continue;
    good = {std::min(begin, good.begin), std::max(end, good.end)};
    return;
  }
  ranges[seen.next[static_cast<int>(how)]++ % ranges.size()] = {begin, end};
}

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

bool page_is_good(std::uintptr_t page, Touch how) {
  const int advice = how == Touch::kRead ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
  if (::madvise(pointer(page), kPage, advice) == 0) return true;
  // Kernels before 5.14 do not know these; there only what is not mapped is found.
  static constinit std::atomic<int> known = 0;
  if (errno != EINVAL || known.load(std::memory_order_relaxed) == 1) return false;
  static constinit char own[1] = {};
  const auto here = reinterpret_cast<std::uintptr_t>(own) & ~(kPage - 1);
  if (::madvise(pointer(here), kPage, MADV_POPULATE_READ) == 0) {
    known.store(1, std::memory_order_relaxed);
    return false;
  }
  return ::msync(pointer(page), kPage, MS_ASYNC) == 0;
}

bool look(std::uintptr_t begin, std::uintptr_t end, Touch how) {
  const int before = errno;
  bool good = page_is_good(begin, how) && (end - begin == kPage || page_is_good(end - kPage, how));
  if (good && end - begin > 2 * kPage) good = ::msync(pointer(begin), end - begin, MS_ASYNC) == 0;
  errno = before;
  return good;
}

// Memory that the kernel copies into and out of.
class Bounce {
 public:
  explicit Bounce(std::size_t size)
      : size_(std::min(size, kPiece)), file_(::memfd_create("forebay", MFD_CLOEXEC)) {
    if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) return;
    void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (at != MAP_FAILED) memory_ = static_cast<std::byte*>(at);
  }
  Bounce(const Bounce&) = delete;
  Bounce& operator=(const Bounce&) = delete;
  ~Bounce() {
    if (memory_ != nullptr) ::munmap(memory_, size_);
  }
  explicit operator bool() const { return memory_ != nullptr; }
  [[nodiscard]] int file() const { return file_.get(); }
  [[nodiscard]] std::span<std::byte> part(std::size_t size) const { return {memory_, std::min(size, size_)}; }

 private:
  std::size_t size_;
  Fd file_;
  std::byte* memory_ = nullptr;
};

}  // namespace

bool touchable(const void* memory, std::size_t size, Touch how) {
  if (size == 0) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto begin = address & ~(kPage - 1);
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(address, size + kPage - 1, &end)) return false;
  end &= ~(kPage - 1);
  const auto now = mappings.load(std::memory_order_acquire);
  if (seen.mappings != now) seen = Seen{.mappings = now, .next = {}, .ranges = {}};
  if (remembered(seen, how, begin, end)) [[likely]]
    return true;
  if (!look(begin, end, how)) return false;
  remember(how, begin, end);
  return true;
}

void forget_memory() { mappings.fetch_add(1, std::memory_order_release); }

long read_carefully(const void* from, std::size_t size,
                    const std::function<long(std::span<const std::byte>)>& use) {
  const Bounce bounce(size);
  if (!bounce) return -ENOMEM;
  long done = 0;
  while (static_cast<std::size_t>(done) < size) {
    const auto room = bounce.part(size - static_cast<std::size_t>(done));
    const auto got = ::pwrite(bounce.file(), static_cast<const std::byte*>(from) + done, room.size(), 0);
    if (got <= 0) return done > 0 ? done : -EFAULT;
    const long taken = use(room.first(static_cast<std::size_t>(got)));
    if (taken < 0) return done > 0 ? done : taken;
    done += taken;
    if (taken < static_cast<long>(room.size())) break;
  }
  return done;
}

long write_carefully(void* to, std::size_t size, const std::function<long(std::span<std::byte>)>& fill) {
  const Bounce bounce(size);
  if (!bounce) return -ENOMEM;
  long done = 0;
  while (static_cast<std::size_t>(done) < size) {
    const auto room = bounce.part(size - static_cast<std::size_t>(done));
    const long filled = fill(room);
    if (filled < 0) return done > 0 ? done : filled;
    if (filled == 0) break;
    const auto put =
        ::pread(bounce.file(), static_cast<std::byte*>(to) + done, static_cast<std::size_t>(filled), 0);
    if (put <= 0) return done > 0 ? done : -EFAULT;
    done += put;
    if (put < static_cast<long>(room.size())) break;
  }
  return done;
}

}  // namespace forebay::posix
