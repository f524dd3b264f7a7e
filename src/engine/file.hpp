// An open file of a buffer.
//
// Offsets are explicit: positions belong to the doors. Thread-safe; close() must be the last call. After a
// fork a child must not use it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/batch.hpp"
#include "engine/bucket_memo.hpp"
#include "engine/home_file.hpp"
#include "engine/piece.hpp"
#include "policy/readahead.hpp"

namespace forebay {

class Buffer;

// Something under way in the background.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(std::shared_future<Result<std::uint64_t>> result) : result_(std::move(result)) {}
  [[nodiscard]] bool done() const {
    return !result_.valid() || result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  // How many bytes came. ETIMEDOUT: it goes on.
  Result<std::uint64_t> wait(std::chrono::nanoseconds patience) const;

 private:
  std::shared_future<Result<std::uint64_t>> result_;
};

enum class Hint { kNormal, kSequential, kRandom, kWillNeed, kDontNeed, kExclusive };

class File {
 public:
  File(Buffer& buffer, std::uint32_t number, std::shared_ptr<HomeFile> home, FileSettings settings,
       bool readable, bool writable);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  // Short only if an error came after some bytes had been taken.
  Result<std::uint64_t> write(std::uint64_t offset, std::span<const std::byte> data) {
    const Piece piece{offset, data};
    return write({&piece, 1});
  }
  // As many writes, in that order, for less than they cost one by one where they are small and lie close.
  Result<std::uint64_t> write(std::span<const Piece> pieces);
  // At the end of the file, wherever that is by then; returns where. Appends do not overlap.
  Result<std::uint64_t> append(std::span<const std::byte> data);
  // All of it or, if this process dies over it, all or nothing: what was begun, whoever looks next finishes.
  // After an error it may still take effect, as a whole.
  Status write_as_one(const Batch& batch);
  // The will of the last batch, if it had one, is void.
  Status withdraw_will();
  // Short only at the end of the file.
  Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> out);
  // As many reads, in that order, for less than they cost one by one where they are small and lie close. How
  // many bytes came; behind one that was short nothing is read.
  Result<std::uint64_t> read(std::span<const Want> wants);

  [[nodiscard]] Result<std::uint64_t> size() const;
  Status truncate(std::uint64_t size);
  // What was written before is safe as `on_flush` says: home (and on stable storage there), or staged.
  Status sync();
  // Home, whatever the settings say, without asking home to make it stable. ETIMEDOUT: so much time has
  // passed in all, however much has arrived; or, without a patience, home has been silent for
  // limits.home_wait. It goes on.
  Status drain(std::optional<std::chrono::nanoseconds> patience = std::nullopt);
  // Reports what went wrong with this file since it was last reported, as close(2) does. The file is closed
  // in any case.
  Status close();

  // Brings a range from home into the buffer.
  Ticket prefetch(std::uint64_t offset, std::uint64_t length);
  // Keeps a range in the buffer until it is unpinned or its file is closed by everyone.
  Status pin(std::uint64_t offset, std::uint64_t length);
  Status unpin(std::uint64_t offset, std::uint64_t length);
  Status hint(Hint hint, std::uint64_t offset, std::uint64_t length);
  // From now on it is read and written at home only, by everybody on the node, until all have closed it: for
  // those who reach its bytes past the buffer (a mapping). What is unsaved is home when this returns.
  Status go_direct();
  [[nodiscard]] bool direct() const;
  // Home may have changed behind our back (a lock was granted, a copy was made by the system): what is clean
  // is forgotten if it has.
  Status meet_home();
  // Home is to show the time of the last write, not that of the drain.
  void keep_times();
  // CLOCK_REALTIME of the last write; 0 where none is known. Setting it is for those who set a file's times.
  [[nodiscard]] std::int64_t written_ns() const;
  void set_written_ns(std::int64_t time);
  // Anything that is not home yet?
  [[nodiscard]] bool unsaved() const;
  // As drain(), also through a handle that is open for reading only, and of what others have written.
  Status drain_all();

  // Forgets clean bytes of a range.
  Status evict(std::uint64_t offset, std::uint64_t length);
  // Forgets all of them, pinned or not: home was changed past the buffer.
  Status forget();

  // Room in the tiers that other files do not take from this one, as with `reserve.size`: what it had before
  // is replaced, 0 gives it back. Returns how much was granted: less where others have reserved the rest.
  Result<std::uint64_t> reserve(std::uint64_t size);
  [[nodiscard]] std::uint64_t reserved() const;
  // What it may still fill: not reserved by other files, and not filled by it already.
  [[nodiscard]] Result<std::uint64_t> room() const;

  // Holds back what goes home in the background, of this file and by this process. Whoever waits for bytes to
  // be home, pressure and a close still carry them there.
  void pause_drain(bool paused);
  // Stronger: while it is held, no byte of the file arrives at home from this process but those that somebody
  // waits for, and none at all from others on the node, but for those who have it open with `written_past`
  // and hold it by themselves. None is on its way when hold_drain() has returned. Holds add up.
  void hold_drain();
  void let_drain_go();
  // From now on it is a file with `on_close: detach`.
  void detach_on_close();
  [[nodiscard]] bool waits_at_close() const;
  // From now on it is a file with `after_close: keep`, or `drop`.
  void keep_after_close(bool keep);
  // Others who have the file open go on without this handle's descriptor, so that it is closed with the
  // handle. A lock of the descriptor would last as long as they do.
  void leave_descriptor();
  // After close(): has this process the file open by other handles, too? They go on through the descriptor of
  // `heir`, one of them that can write, or, if there is none, with none as soon as all is home: so that this
  // handle's is closed with it.
  [[nodiscard]] bool others_here() const;
  void leave_to(const File* heir);

  [[nodiscard]] const std::string& path() const { return home_->path(); }
  [[nodiscard]] const FileSettings& settings() const { return settings_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] const HomeFile& home() const { return *home_; }

 private:
  // Block numbers have 36 bits: 16 PiB with the usual buckets.
  [[nodiscard]] std::uint64_t max_size() const;
  [[nodiscard]] Status fits(std::uint64_t offset, std::uint64_t length) const;
  // The process's own limit on the size of files is kept as the kernel keeps it, which is asked for its
  // signal: nothing beyond it is written, a write that reaches across it is short.
  [[nodiscard]] bool within_own_limit(std::uint64_t offset, std::uint64_t length);
  Status refused_by_limit(std::uint64_t offset) const;
  Result<std::uint64_t> write_up_to_limit(std::span<const Piece> pieces);
  // Are its writes logged, to survive the loss of the node?
  [[nodiscard]] bool logged() const;
  // Has home been seen to take writes of this size so fast that staging them gains nothing?
  [[nodiscard]] bool straight_home(std::uint64_t bytes) const;
  [[nodiscard]] Status attached() const;
  [[nodiscard]] Status usable(bool for_writing) const;
  // The same without words, for the paths that must be short.
  [[nodiscard]] bool ready_to_read() const;
  // The error that struck since the last report, once.
  Status report();
  Result<std::uint64_t> write_staged(std::span<const Piece> pieces);
  Result<std::uint64_t> write_past(std::span<const Piece> pieces);
  // The first `written` bytes of them.
  Status make_durable(std::span<const Piece> pieces, std::uint64_t written);
  // Home is to keep what it was given, where more than `process` was promised and no log keeps it.
  [[nodiscard]] Status make_home_durable() const;
  [[nodiscard]] Status sync_data() const;
  void read_ahead(std::uint64_t offset, std::uint64_t length);
  // The first of them was no hit: what lies near is brought with it, in one request. How many those are.
  std::size_t bring_near(std::span<const Want> wants);
  // Of hits: how many bytes they are.
  std::uint64_t note_reads(std::span<const Want> wants);
  // Notes the time of a change.
  void changed();

  Buffer& buffer_;
  const std::uint32_t number_;
  const std::shared_ptr<HomeFile> home_;
  const FileSettings settings_;
  const bool readable_;
  const bool writable_;
  std::atomic<std::uint64_t> own_limit_;  // as last asked for
  std::atomic<std::uint32_t> errors_seen_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> random_ = false;
  std::atomic<bool> detach_on_close_ = false;
  Readahead readahead_;
  BucketMemo memo_;
};

}  // namespace forebay
