#include "tier/mapped_store.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "os/file_system.hpp"
#include "os/huge_pages.hpp"
#include "os/memory_room.hpp"
#include "os/own_file_size.hpp"
#include "os/own_io.hpp"
#include "tier/pmem.hpp"
#include "tier/slot_range.hpp"

namespace forebay {
namespace {

// What growth leaves to everybody else: below it, the next page anyone touches could wake the OOM killer.
constexpr std::uint64_t kMemoryLeftToOthers = 32u << 20;
// And what must have been left a moment ago where nobody asks again.
constexpr std::uint64_t kPlenty = 1u << 30;
constexpr std::size_t kPopulateStep = 64u << 20;
// From this length on a system call costs less than the faults.
constexpr std::uint64_t kLongWrite = 64u << 10;

// MAP_SYNC is granted by a DAX file system only: then flushing the processor's caches is all that durability
// takes.
Result<Mapping> map_pmem(int fd, std::size_t size, const std::string& name, bool& real) {
  if (auto mapping = map_for_huge_pages(fd, size, name, MAP_SHARED_VALIDATE | MAP_SYNC)) {
    real = true;
    return mapping;
  }
  auto mapping = map_for_huge_pages(fd, size, name);
  real = mapping && is_pmem(mapping->data(), mapping->size());
  return mapping;
}

void touch(const std::byte* data, std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < size; at += page) {
    [[maybe_unused]] const auto value = *static_cast<const volatile std::byte*>(data + at);
  }
}

}  // namespace

Result<MappedStore> MappedStore::open(const Fd& directory, const std::string& file_name,
                                      std::uint64_t bucket_size, std::uint64_t slots, Kind kind,
                                      Create create) {
  FOREBAY_TRY(check_store_shape(file_name, bucket_size, slots));
  FOREBAY_ASSIGN(auto file, SteadyFile::open(directory, file_name, create));
  FOREBAY_ASSIGN(const int fd, file.descriptor());
  const auto size = bucket_size * slots;
  bool real_pmem = false;
  FOREBAY_ASSIGN(auto mapping, kind == Kind::kPmem ? map_pmem(fd, size, file.path(), real_pmem)
                                                   : map_for_huge_pages(fd, size, file.path()));
  // Without these two the store works all the same, only fork and core dumps are dearer.
  ::madvise(mapping.data(), size, MADV_DONTFORK);
  ::madvise(mapping.data(), size, MADV_DONTDUMP);
  ::madvise(mapping.data(), size, MADV_HUGEPAGE);
  MappedStore store(std::move(file), std::move(mapping), bucket_size, slots, kind);
  store.real_pmem_ = real_pmem;
  store.in_memory_ = is_memory_file_system(fd);
  return store;
}

Status MappedStore::grow(std::uint64_t from, std::uint64_t to, Asker asker) {
  FOREBAY_TRY(check_slot_range(file_.path(), from, to, slots_));
  FOREBAY_TRY(file_.still_there());
  const auto bytes = (to - from) * bucket_size_;
  if (in_memory_ && asker == Asker::kBackground) {
    if (!take_recent_memory_room(bytes, kPlenty))
      return fail(EAGAIN, "how much memory is left is not known well enough");
  } else if (in_memory_) {
    if (const auto room = memory_room(); room < bytes + kMemoryLeftToOthers) {
      return fail(ENOSPC, "cannot reserve " + std::to_string(bytes >> 20) + " MiB for " + file_.path() +
                              ": the machine, or the control group of this process, has " +
                              std::to_string(room >> 20) + " MiB of memory left");
    }
  }
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  if (!in_memory_) return reserve_storage(fd, from * bucket_size_, to * bucket_size_, file_.path());
  struct stat before{};
  if (::fstat(fd, &before) != 0) return fail_errno(errno, "examine", file_.path());
  const auto end = static_cast<off_t>(to * bucket_size_);
  const OwnFileSize own_size;
  if (before.st_size < end && ::ftruncate(fd, end) == 0) {
    const auto huge_to = put_huge_pages(fd, mapping_.data(), from * bucket_size_, to * bucket_size_);
    note_entered(from, huge_to / bucket_size_);
  }
  auto status = reserve_storage(fd, from * bucket_size_, to * bucket_size_, file_.path());
  // Nobody was told of what was reserved before it failed. If even this fails, it is merely reserved too
  // early.
  if (!status && before.st_size < end) [[maybe_unused]]
    const int ignored = ::ftruncate(fd, before.st_size);
  return status;
}

Result<std::uint64_t> MappedStore::reserved_slots() const {
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  struct stat found{};
  if (::fstat(fd, &found) != 0) return fail_errno(errno, "examine", file_.path());
  // A sparse file is as dangerous as a short one: its holes may find no room when they are touched.
  const auto size = static_cast<std::uint64_t>(found.st_size);
  const auto stored = static_cast<std::uint64_t>(found.st_blocks) * 512;
  return std::min(std::min(size, stored) / bucket_size_, slots_);
}

void MappedStore::note_entered(std::uint64_t from, std::uint64_t to) {
  for (; from < to; ++from) entered_[from].store(true, std::memory_order_relaxed);
}

bool MappedStore::write_unentered(std::uint64_t index, std::uint64_t offset, const std::byte* data,
                                  std::uint64_t length) {
  auto& entered = entered_[index];
  if (length < kLongWrite || !in_memory_ || entered.load(std::memory_order_relaxed)) return false;
  entered.store(true, std::memory_order_relaxed);
  const auto fd = file_.descriptor();
  if (!fd) return false;
  const OwnIo own;
  return write_fully(*fd, data, length, index * bucket_size_ + offset).has_value();
}

void MappedStore::populate(std::uint64_t from, std::uint64_t to) {
  const auto reserved = reserved_slots();
  if (!reserved) return;
  // On a disk-backed mapping a write fault makes the page dirty, and all of the tier would be written out.
  const int advice = in_memory_ || real_pmem_ ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  const auto end = std::min(to, *reserved) * bucket_size_;
  for (auto at = from * bucket_size_; at < end;) {
    const auto length = std::min<std::uint64_t>(kPopulateStep, end - at);
    if (::madvise(mapping_.data() + at, length, advice) != 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      if (errno != EINVAL) return;
      touch(mapping_.data() + at, length);
    }
    note_entered(at / bucket_size_, (at + length) / bucket_size_);
    at += length;
  }
}

Status MappedStore::persist(const void* data, std::size_t size) const {
  if (kind_ == Kind::kMemory) return {};
  if (real_pmem_) {
    persist_pmem(data, size);
    return {};
  }
  if (!persist_mapped(data, size)) return fail_errno(errno, "persist", file_.path());
  return {};
}

}  // namespace forebay
