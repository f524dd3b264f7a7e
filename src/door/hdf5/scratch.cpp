#include "door/hdf5/scratch.hpp"

#include <mutex>

namespace forebay::hdf5 {
namespace {

constexpr std::size_t kKept = 4;               // idle scratches
constexpr std::size_t kKeptBytes = 16u << 20;  // of each room

struct Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<Scratch>> idle;  // guarded by mutex
};

// Never destroyed: HDF5 may call into the connector after static destructors have run.
Pool& pool() {
  static auto* made = new Pool;
  return *made;
}

}  // namespace

std::byte* Room::get(std::size_t size) {
  if (size > capacity_) {
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
    capacity_ = size;
  }
  return bytes_.get();
}

BorrowedScratch::BorrowedScratch() {
  {
    const std::scoped_lock lock(pool().mutex);
    if (!pool().idle.empty()) {
      scratch_ = std::move(pool().idle.back());
      pool().idle.pop_back();
      return;
    }
  }
  scratch_ = std::make_unique<Scratch>();
}

BorrowedScratch::~BorrowedScratch() {
  for (auto* room : {&scratch_->packed, &scratch_->background, &scratch_->hull}) {
    if (room->capacity() > kKeptBytes) *room = Room();
  }
  const std::scoped_lock lock(pool().mutex);
  if (pool().idle.size() < kKept) pool().idle.push_back(std::move(scratch_));
}

}  // namespace forebay::hdf5
