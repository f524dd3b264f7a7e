#include "tier/block_queue.hpp"

#include <liburing.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "os/own_io.hpp"
#include "tier/aligned_buffer.hpp"

namespace forebay {
namespace {

constexpr unsigned kDepthMost = 1024;
constexpr std::chrono::milliseconds kWaitMost = std::chrono::hours(24);  // far from overflow
constexpr int kDataFile = 0;  // index among the ring's registered files

struct Transfer {
  std::uint64_t cookie;
  std::uint64_t position;
  std::uint64_t length;
  std::byte* memory;
  bool write;
};

}  // namespace

struct BlockQueue::State {
  State(BlockStore& its_store, unsigned its_depth)
      : store(its_store), depth(its_depth), transfers(its_depth) {
    for (unsigned i = its_depth; i > 0; --i) free.push_back(i - 1);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  Status open_ring(int lease_fd);
  void queue(unsigned index);
  void submit(Transfer transfer);
  void complete(unsigned index, int result);
  void wait_for_one(std::chrono::milliseconds wait);
  void collect();

  BlockStore& store;
  const unsigned depth;
  const pid_t owner = ::getpid();
  bool has_ring = false;
  io_uring ring{};
  std::vector<Transfer> transfers;  // by index; those not in `free` are in the ring
  std::vector<unsigned> free;
  std::deque<Done> done;
};

// Fails where the ring would be unsafe or is not to be had; then there is none.
Status BlockQueue::State::open_ring(int lease_fd) {
  const OwnIo own;  // a program that makes a ring is not buffered by the POSIX door
  if (const int code = io_uring_queue_init(depth, &ring, 0); code < 0)
    return fail_errno(-code, "make", "an io_uring");
  const auto give_up = [this](int code, const char* action) {
    io_uring_queue_exit(&ring);
    return fail_errno(-code, action, "an io_uring");
  };
  const auto data_fd = store.file_.descriptor();
  if (!data_fd) return give_up(-data_fd.error().code, "open the file of");
  const std::array<int, 2> files{*data_fd, lease_fd};
  if (const int code = io_uring_register_files(&ring, files.data(), lease_fd >= 0 ? 2 : 1); code < 0) {
    return give_up(code, "register files in");
  }
  if (const int code = io_uring_ring_dontfork(&ring); code < 0) return give_up(code, "keep to this process");
  if (const int code = io_uring_register_ring_fd(&ring); code < 0) return give_up(code, "register");
  if (const int code = io_uring_close_ring_fd(&ring); code < 0)
    return give_up(code, "hide the descriptor of");
  has_ring = true;
  return {};
}

BlockQueue::State::~State() {
  // A forked child has neither the ring nor its mapping.
  if (!has_ring || owner != ::getpid()) return;
  while (free.size() < depth) {
    wait_for_one(std::chrono::milliseconds(100));
    collect();
  }
  io_uring_queue_exit(&ring);
}

void BlockQueue::State::queue(unsigned index) {
  const auto& transfer = transfers[index];
  // Never null: the ring has as many entries as there are transfers.
  io_uring_sqe* entry = io_uring_get_sqe(&ring);
  const auto length = static_cast<unsigned>(std::min<std::uint64_t>(transfer.length, 1u << 30));
  if (transfer.write) {
    io_uring_prep_write(entry, kDataFile, transfer.memory, length, transfer.position);
  } else {
    io_uring_prep_read(entry, kDataFile, transfer.memory, length, transfer.position);
  }
  io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE);
  io_uring_sqe_set_data64(entry, index);
  // A refusal for now (EAGAIN, EBUSY) leaves the entry in the ring: the next submit or wait takes it along.
  io_uring_submit(&ring);
}

void BlockQueue::State::submit(Transfer transfer) {
  const auto index = free.back();
  free.pop_back();
  transfers[index] = transfer;
  queue(index);
}

void BlockQueue::State::complete(unsigned index, int result) {
  auto& transfer = transfers[index];
  const char* action = transfer.write ? "write" : "read";
  if (result == -EINTR || result == -EAGAIN) return queue(index);
  Status status;
  if (result < 0) {
    status = store.failure(-result, action, transfer.position);
  } else if (result == 0 || static_cast<std::uint64_t>(result) > transfer.length) {
    status = store.failure(EIO, action, transfer.position);
  } else if (static_cast<std::uint64_t>(result) < transfer.length) {
    transfer.position += static_cast<std::uint64_t>(result);
    transfer.memory += result;
    transfer.length -= static_cast<std::uint64_t>(result);
    return queue(index);
  }
  done.push_back({transfer.cookie, std::move(status)});
  free.push_back(index);
}

void BlockQueue::State::wait_for_one(std::chrono::milliseconds wait) {
  if (io_uring_sq_ready(&ring) > 0) io_uring_submit(&ring);
  __kernel_timespec limit{wait.count() / 1000, wait.count() % 1000 * 1'000'000};
  io_uring_cqe* entry = nullptr;
  const int code = io_uring_wait_cqe_timeout(&ring, &entry, &limit);
  // A wait that is refused outright must not turn the callers' loops into spinning ones.
  if (code < 0 && code != -ETIME && code != -EINTR) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void BlockQueue::State::collect() {
  io_uring_cqe* entry = nullptr;
  while (io_uring_peek_cqe(&ring, &entry) == 0) {
    const auto index = static_cast<unsigned>(io_uring_cqe_get_data64(entry));
    const int result = entry->res;
    io_uring_cqe_seen(&ring, entry);
    complete(index, result);
  }
}

BlockQueue::BlockQueue(std::unique_ptr<State> state) : state_(std::move(state)) {}
BlockQueue::BlockQueue(BlockQueue&&) noexcept = default;
BlockQueue::~BlockQueue() = default;

Result<BlockQueue> BlockQueue::open(BlockStore& store, unsigned depth, int lease_fd) {
  if (depth == 0 || depth > kDepthMost) {
    return fail(EINVAL, "a queue depth of " + std::to_string(depth) + " is not between 1 and " +
                            std::to_string(kDepthMost));
  }
  auto state = std::make_unique<State>(store, depth);
  // Without a ring every transfer is synchronous: no reason to fail.
  [[maybe_unused]] const auto status = state->open_ring(lease_fd);
  return BlockQueue(std::move(state));
}

unsigned BlockQueue::in_flight() const {
  return static_cast<unsigned>(state_->depth - state_->free.size() + state_->done.size());
}

bool BlockQueue::asynchronous() const { return state_->has_ring; }

bool BlockQueue::submit_write(std::uint64_t slot, std::uint64_t offset, std::uint64_t length,
                              const std::byte* data, std::uint64_t cookie) {
  auto& state = *state_;
  if (in_flight() >= state.depth) return false;
  const bool aligned = is_aligned(offset) && is_aligned(length) && is_aligned(data);
  if (!state.has_ring || length == 0 || !aligned || !state.store.check(slot, offset, length)) {
    state.done.push_back({cookie, state.store.write(slot, offset, length, data)});
  } else {
    state.submit(
        {cookie, slot * state.store.bucket_size() + offset, length, const_cast<std::byte*>(data), true});
  }
  return true;
}

bool BlockQueue::submit_write(std::uint64_t slot, const std::byte* data, std::uint64_t cookie) {
  return submit_write(slot, 0, state_->store.bucket_size(), data, cookie);
}

bool BlockQueue::submit_read(std::uint64_t slot, std::uint64_t offset, std::uint64_t length, std::byte* to,
                             std::uint64_t cookie) {
  auto& state = *state_;
  if (in_flight() >= state.depth) return false;
  const bool aligned = is_aligned(offset) && is_aligned(length) && is_aligned(to);
  if (!state.has_ring || length == 0 || !aligned || !state.store.check(slot, offset, length)) {
    state.done.push_back({cookie, state.store.read(slot, offset, length, to)});
  } else {
    state.submit({cookie, slot * state.store.bucket_size() + offset, length, to, false});
  }
  return true;
}

std::optional<BlockQueue::Done> BlockQueue::reap(std::chrono::milliseconds wait) {
  auto& state = *state_;
  const auto under_way = [&state] { return state.has_ring && state.free.size() < state.depth; };
  if (state.done.empty() && under_way()) {
    if (io_uring_sq_ready(&state.ring) > 0) io_uring_submit(&state.ring);
    state.collect();
    // What comes first may be a part of a transfer, which then goes on: hence the loop.
    const auto until = std::chrono::steady_clock::now() + std::min(wait, kWaitMost);
    while (state.done.empty() && under_way()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0) break;
      state.wait_for_one(left);
      state.collect();
    }
  }
  if (state.done.empty()) return std::nullopt;
  auto next = std::move(state.done.front());
  state.done.pop_front();
  return next;
}

}  // namespace forebay
