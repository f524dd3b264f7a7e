#include "door/posix/descriptors.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "door/posix/closing.hpp"
#include "door/posix/interface.hpp"
#include "session/session.hpp"

namespace forebay::posix {
namespace {

constexpr int kDescriptors = 65536;

// The lock is held for a few instructions, with signals of this thread kept out of the engine by the shim. A
// forked child may find one held by a thread that it does not have: then it takes it.
struct Slot {
  std::atomic<std::uint32_t> lock{0};
  Open* open = nullptr;
};
constinit std::array<Slot, kDescriptors> slots{};
constinit std::atomic<int> end_of_table = 0;

class Locked {
 public:
  explicit Locked(Slot& slot) : slot_(slot) {
    const auto mine = fork_generation();
    std::uint32_t seen = 0;
    while (!slot_.lock.compare_exchange_weak(seen, mine, std::memory_order_acquire)) {
      // Of another process: nobody here will ever give it back.
      if (seen == 0 || seen == mine) seen = 0;
    }
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { slot_.lock.store(0, std::memory_order_release); }

 private:
  Slot& slot_;
};

// What a number means just now. Home is not asked.
std::optional<std::pair<dev_t, ino_t>> meaning_of(int fd) {
  struct statx found{};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &found) != 0) return std::nullopt;
  return std::pair(makedev(found.stx_dev_major, found.stx_dev_minor), ino_t{found.stx_ino});
}

// A thread that has just finished with the file may hold its descriptor for a few instructions more, which
// take long on a busy machine; and until it is gone nobody can execute the file. The number may be another
// file's by then.
void wait_until_closed(int fd, const std::optional<std::pair<dev_t, ino_t>>& file) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (file && meaning_of(fd) == file && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

bool in_range(int fd) { return fd >= 0 && fd < kDescriptors; }

}  // namespace

Pin Pin::again() const {
  if (open_ != nullptr) open_->references.fetch_add(1);
  return Pin(open_);
}

namespace {

// Another open file of the same, for writing.
Pin writer_of(std::uint32_t number) {
  for (int fd = 0; fd < descriptor_end(); ++fd) {
    auto open = descriptor(fd);
    if (open && open->process == fork_generation() && open->writable() && open->file->number() == number)
      return open;
  }
  return {};
}

// The last one of this process; null if there are others. A copy of the parent's, with threads and locks that
// are not there, is never touched and never freed.
std::shared_ptr<Open> last_of(Open* open) {
  if (open == nullptr || open->references.fetch_sub(1) != 1) return nullptr;
  return open->process == fork_generation() ? std::shared_ptr<Open>(open) : nullptr;
}

// It is closed: those who have the file open beside it go on without its descriptor.
void leave_to_others(const Open& closed) {
  if (closed.locked.load() || !closed.writable() || !closed.file->others_here()) return;
  const auto heir = writer_of(closed.file->number());
  closed.file->leave_to(heir ? heir->file.get() : nullptr);
}

Status end(std::shared_ptr<Open> last) {
  const bool locked = last->locked.load();
  Status drained;
  if (locked) {
    drained = last->file->drain_all();
    last->file->leave_descriptor();
  }
  // Of one that is used at home only everything the close does is seen at once: by those who watch it, too.
  const bool goes_now = locked || last->file->direct() || last->file->waits_at_close();
  const int home = last->file->home().fd();
  const auto file = goes_now ? meaning_of(home) : std::nullopt;
  auto closed = last->file->close();
  leave_to_others(*last);
  last.reset();
  if (goes_now) wait_until_closed(home, file);
  return drained ? closed : drained;
}

// Does the program rely on nothing that its close does?
bool may_be_closed_later(const Open& open) {
  return !open.locked.load() && !open.file->direct() && !(open.writable() && open.file->waits_at_close());
}

long closed_here(int fd) {
  const auto began = std::chrono::steady_clock::now();
  const int result = ::close(fd);
  const int why = errno;
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began;
  closing_took(static_cast<std::uint64_t>(took.count()));
  return kClosed + (result == 0 ? 0 : why);
}

}  // namespace

Status Pin::release() {
  auto last = last_of(std::exchange(open_, nullptr));
  return last ? end(std::move(last)) : Status{};
}

Result<long> Pin::release_and_close(int fd) {
  auto last = last_of(std::exchange(open_, nullptr));
  if (!last) return 0;
  if (!may_be_closed_later(*last)) {
    FOREBAY_TRY(end(std::move(last)));
    return 0;
  }
  FOREBAY_TRY(last->file->close());
  leave_to_others(*last);
  if (closing_is_slow() && close_aside(fd, last)) return kClosed;
  last.reset();
  return closed_here(fd);
}

Pin descriptor(int fd) {
  if (!in_range(fd)) return {};
  auto& slot = slots[static_cast<std::size_t>(fd)];
  const Locked locked(slot);
  if (slot.open == nullptr) return {};
  slot.open->references.fetch_add(1, std::memory_order_relaxed);
  return Pin(slot.open);
}

namespace {

Pin exchange_descriptor(int fd, Pin open) {
  for (int seen = end_of_table.load(); seen <= fd && !end_of_table.compare_exchange_weak(seen, fd + 1);) {
  }
  auto& slot = slots[static_cast<std::size_t>(fd)];
  const Locked locked(slot);
  return Pin(std::exchange(slot.open, open ? open.take() : nullptr));
}

}  // namespace

Status set_descriptor(int fd, Pin open) {
  if (!in_range(fd)) return {};
  return exchange_descriptor(fd, std::move(open)).release();
}

Result<long> close_descriptor(int fd) {
  if (!in_range(fd)) return 0;
  return exchange_descriptor(fd, {}).release_and_close(fd);
}

int descriptor_end() { return end_of_table.load(); }

}  // namespace forebay::posix
