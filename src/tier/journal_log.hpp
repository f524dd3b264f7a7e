// How bytes of a journal become durable: through a disk in batches, or through mapped persistent memory.
//
// A JournalLog hands out places in the log that lie within one segment and makes them durable. Which segments
// may be used again is not its business: Journal tells it where to go on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "os/mapping.hpp"
#include "os/steady_file.hpp"
#include "tier/aligned_buffer.hpp"
#include "tier/journal_format.hpp"

namespace forebay {

using JournalGuard = std::unique_lock<std::mutex>;

// A place in the log that its taker fills and then hands back with finish().
struct LogPlace {
  std::byte* memory = nullptr;
  std::uint64_t position = 0;  // in the file
  std::uint64_t size = 0;
  std::uint64_t batch = 0;  // grows by one when a new one is begun
};

// All methods are called with the guard of Journal's mutex held; those that wait release it meanwhile.
class JournalLog {
 public:
  JournalLog() = default;
  JournalLog(const JournalLog&) = delete;
  JournalLog& operator=(const JournalLog&) = delete;
  virtual ~JournalLog() = default;

  // Goes on in the segment [start, end), right after a take() that gave nothing, or at the very start. The
  // segment's `mark` is durable when this returns; a failure is one of the log.
  virtual Status begin(const RecordHeader& mark, std::uint64_t start, std::uint64_t end) = 0;
  // A place of `least` to `most` bytes (multiples of 64), as large as is to be had. Nothing when the range
  // has no such place left; then every finished place is durable, and the caller may move on before it
  // releases the guard. Fails when the log has failed.
  virtual Result<std::optional<LogPlace>> take(JournalGuard& guard, std::uint64_t least,
                                               std::uint64_t most) = 0;
  // The place is filled and its taker will not touch it any more.
  virtual Status finish(JournalGuard& guard, const LogPlace& place) = 0;
  // Waits until every finished place of this batch, and of those before it, is durable.
  virtual Status commit(JournalGuard& guard, std::uint64_t batch) = 0;
  // What is left of the range.
  [[nodiscard]] virtual std::uint64_t left() const = 0;
};

// Threads fill one batch while another is on its way to the disk: a thread that finds none on its way writes
// the batch it is in, and those that came meanwhile have their bytes in the next one. A batch begins on a
// block of its own, so that writing it touches no block of an earlier one.
class DiskLog final : public JournalLog {
 public:
  // `file` is opened with O_DSYNC.
  DiskLog(SteadyFile file, std::uint64_t segment_size);

  Status begin(const RecordHeader& mark, std::uint64_t start, std::uint64_t end) override;
  Result<std::optional<LogPlace>> take(JournalGuard& guard, std::uint64_t least, std::uint64_t most) override;
  Status finish(JournalGuard& guard, const LogPlace& place) override;
  Status commit(JournalGuard& guard, std::uint64_t batch) override;
  [[nodiscard]] std::uint64_t left() const override { return end_ - filling_->position - filling_->used; }

 private:
  struct Batch {
    AlignedBuffer memory;
    std::uint64_t number = 0;
    std::uint64_t position = 0;  // in the file
    std::uint64_t used = 0;
    unsigned unfinished = 0;  // places taken and not yet finished
  };
  void write_filling(JournalGuard& guard);
  [[nodiscard]] Status write(const std::byte* bytes, std::uint64_t size, std::uint64_t position) const;

  const SteadyFile file_;
  const std::uint64_t capacity_;
  Batch one_, two_;
  Batch* filling_ = &one_;
  Batch* spare_ = &two_;
  std::uint64_t end_ = 0;
  std::uint64_t durable_ = 0;  // every batch up to this number is on the disk
  bool writing_ = false;
  std::optional<Error> failed_;
  std::condition_variable changed_;
};

// Places are in the medium itself: nothing to share, every thread persists its own when it has filled it.
class PmemLog final : public JournalLog {
 public:
  PmemLog(Mapping mapping, bool real, std::string name)
      : mapping_(std::move(mapping)), real_(real), name_(std::move(name)) {}

  Status begin(const RecordHeader& mark, std::uint64_t start, std::uint64_t end) override;
  Result<std::optional<LogPlace>> take(JournalGuard& guard, std::uint64_t least, std::uint64_t most) override;
  Status finish(JournalGuard& guard, const LogPlace& place) override;
  Status commit(JournalGuard&, std::uint64_t) override { return {}; }
  [[nodiscard]] std::uint64_t left() const override { return end_ - next_; }

 private:
  [[nodiscard]] Status persist(const std::byte* bytes, std::uint64_t size) const;

  const Mapping mapping_;
  const bool real_;  // flushing the processor's caches is enough
  const std::string name_;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t batches_ = 0;
  std::optional<Error> failed_;
};

}  // namespace forebay
