#include "tier/journal_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/private_file.hpp"
#include "tier/pmem.hpp"

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

// Nothing is being filled or written, so the batch to be filled next has its memory to spare.
Status DiskLog::begin(const RecordHeader& mark, std::uint64_t start, std::uint64_t end) {
  auto* block = filling_->memory.get();
  std::memset(block, 0, kSegmentMarkSize);
  std::memcpy(block, &mark, sizeof mark);
  if (auto written = write(block, kSegmentMarkSize, start); !written) {
    failed_ = written.error();
    return written;
  }
  filling_->position = start + kSegmentMarkSize;
  end_ = end;
  return {};
}

Status DiskLog::write(const std::byte* bytes, std::uint64_t size, std::uint64_t position) const {
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  const auto written = write_fully(fd, bytes, size, position);
  return written ? Status{} : fail_errno(written.error().code, "write", file_.path());
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
  const auto written = write(batch.memory.get(), size, batch.position);
  guard.lock();
  if (written) {
    durable_ = batch.number;
  } else {
    failed_ = written.error();
  }
  writing_ = false;
  changed_.notify_all();
}

Status PmemLog::begin(const RecordHeader& mark, std::uint64_t start, std::uint64_t end) {
  auto* place = mapping_.data() + start;
  std::memcpy(place, &mark, sizeof mark);
  if (auto persisted = persist(place, sizeof mark); !persisted) {
    failed_ = persisted.error();
    return persisted;
  }
  next_ = start + kSegmentMarkSize;
  end_ = end;
  return {};
}

Status PmemLog::persist(const std::byte* bytes, std::uint64_t size) const {
  if (real_) {
    persist_pmem(bytes, size);
  } else if (!persist_mapped(bytes, size)) {
    return fail_errno(errno, "persist", name_);
  }
  return {};
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
  auto persisted = persist(place.memory, place.size);
  guard.lock();
  if (!persisted) failed_ = persisted.error();
  return persisted;
}

}  // namespace forebay
