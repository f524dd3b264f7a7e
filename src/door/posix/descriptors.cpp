#include "door/posix/descriptors.hpp"

#include <array>
#include <chrono>
#include <thread>

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
constinit std::atomic<int> end = 0;

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

// A thread that has just finished with the file may hold its descriptor for a few instructions more.
void wait_until_closed(int fd) {
  for (int i = 0; i < 200 && ::fcntl(fd, F_GETFD) >= 0; ++i)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

bool in_range(int fd) { return fd >= 0 && fd < kDescriptors; }

}  // namespace

Pin Pin::again() const {
  if (open_ != nullptr) open_->references.fetch_add(1);
  return Pin(open_);
}

Status Pin::release() {
  auto* const open = std::exchange(open_, nullptr);
  if (open == nullptr || open->references.fetch_sub(1) != 1) return {};
  // A copy of the parent's, with threads and locks that are not there: never touched, never freed.
  if (open->process != fork_generation()) return {};
  std::unique_ptr<Open> last(open);
  const bool locked = last->locked.load();
  Status drained;
  if (locked) {
    drained = last->file->drain_all();
    last->file->leave_descriptor();
  }
  const bool goes_now = locked || last->file->waits_at_close();
  const int home = last->file->home().fd();
  auto closed = last->file->close();
  last.reset();
  if (goes_now) wait_until_closed(home);
  return drained ? closed : drained;
}

Pin descriptor(int fd) {
  if (!in_range(fd)) return {};
  auto& slot = slots[static_cast<std::size_t>(fd)];
  const Locked locked(slot);
  if (slot.open == nullptr) return {};
  slot.open->references.fetch_add(1, std::memory_order_relaxed);
  return Pin(slot.open);
}

Status set_descriptor(int fd, Pin open) {
  if (!in_range(fd)) return {};
  for (int seen = end.load(); seen <= fd && !end.compare_exchange_weak(seen, fd + 1);) {
  }
  Pin before;
  {
    auto& slot = slots[static_cast<std::size_t>(fd)];
    const Locked locked(slot);
    before = Pin(std::exchange(slot.open, open ? open.take() : nullptr));
  }
  return before.release();
}

int descriptor_end() { return end.load(); }

}  // namespace forebay::posix
