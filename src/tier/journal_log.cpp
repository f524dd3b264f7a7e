#include "tier/journal_log.hpp"

#include <libpmem.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/private_file.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kBatchMost = 2u << 20;

}  // namespace

DiskLog::DiskLog(SteadyFile file, std::uint64_t segment_size)
    : file_(std::move(file)), capacity_(std::min(segment_size, kBatchMost)) {
  one_.memory = make_aligned_buffer(capacity_);
  two_.memory = make_aligned_buffer(capacity_);
  one_.number = 1;
}

void DiskLog::move_to(std::uint64_t from, std::uint64_t to) {
  filling_->position = from;
  end_ = to;
}

Result<std::optional<LogPlace>> DiskLog::take(JournalGuard& guard, std::uint64_t least, std::uint64_t most) {
  for (;;) {
    if (failed_) return std::unexpected(*failed_);
    auto& batch = *filling_;
    const auto size = std::min({most, left(), capacity_ - batch.used});
    if (size >= least) {
      const LogPlace place{batch.memory.get() + batch.used, batch.position + batch.used, size, batch.number};
      batch.used += size;
      ++batch.unfinished;
      return place;
    }
    // Waiting lets others in, who may find smaller places than this one: so look again from the start.
    if (batch.used > 0) {
      FOREBAY_TRY(commit(guard, batch.number));
    } else if (writing_) {
      changed_.wait(guard);
    } else {
      return std::nullopt;
    }
  }
}

Status DiskLog::finish(JournalGuard&, const LogPlace& place) {
  auto& batch = place.batch == filling_->number ? *filling_ : *spare_;
  if (--batch.unfinished == 0) changed_.notify_all();
  return {};
}

Status DiskLog::commit(JournalGuard& guard, std::uint64_t batch) {
  while (durable_ < batch) {
    if (failed_) return std::unexpected(*failed_);
    if (writing_) {
      changed_.wait(guard);
    } else {
      write_filling(guard);
    }
  }
  return {};
}

void DiskLog::write_filling(JournalGuard& guard) {
  writing_ = true;
  Batch& batch = *filling_;
  const auto size = round_up(batch.used);
  spare_->number = batch.number + 1;
  spare_->position = batch.position + size;
  spare_->used = 0;
  std::swap(filling_, spare_);
  changed_.wait(guard, [&batch] { return batch.unfinished == 0; });
  guard.unlock();
  std::memset(batch.memory.get() + batch.used, 0, size - batch.used);
  Status written;
  if (const auto fd = file_.descriptor(); !fd) {
    written = std::unexpected(fd.error());
  } else {
    written = write_fully(*fd, batch.memory.get(), size, batch.position);
  }
  guard.lock();
  if (written) {
    durable_ = batch.number;
  } else {
    failed_ = fail_errno(written.error().code, "write", file_.path()).error();
  }
  writing_ = false;
  changed_.notify_all();
}

void PmemLog::move_to(std::uint64_t from, std::uint64_t to) {
  next_ = from;
  end_ = to;
}

Result<std::optional<LogPlace>> PmemLog::take(JournalGuard&, std::uint64_t least, std::uint64_t most) {
  if (failed_) return std::unexpected(*failed_);
  const auto size = std::min(most, left());
  if (size < least) return std::nullopt;
  const LogPlace place{mapping_.data() + next_, next_, size, ++batches_};
  next_ += size;
  return place;
}

Status PmemLog::finish(JournalGuard& guard, const LogPlace& place) {
  guard.unlock();
  const int code = real_ ? (pmem_persist(place.memory, place.size), 0) : pmem_msync(place.memory, place.size);
  const int reason = errno;
  guard.lock();
  if (code == 0) return {};
  failed_ = fail_errno(reason, "persist", name_).error();
  return std::unexpected(*failed_);
}

}  // namespace forebay
