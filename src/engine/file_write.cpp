// What a file is told: writes, appends, batches, and when they are durable.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "engine/buffer.hpp"
#include "engine/file.hpp"
#include "engine/truncate.hpp"
#include "os/own_file_size.hpp"

namespace forebay {
namespace {

std::uint64_t size_of(std::span<const Piece> pieces) {
  std::uint64_t sum = 0;
  for (const auto& piece : pieces) sum += piece.data.size();
  return sum;
}

}  // namespace

Status File::attached() const {
  if (buffer_.attached()) return {};
  return fail(ENOTCONN, "this process is not attached to the buffer (a forked child must attach by itself)");
}

Status File::usable(bool for_writing) const {
  FOREBAY_TRY(attached());
  if (closed_.load(std::memory_order_relaxed)) return fail(EBADF, path() + " is closed");
  if (for_writing ? !writable_ : !readable_) {
    return fail(EBADF,
                path() + (for_writing ? " was not opened for writing" : " was not opened for reading"));
  }
  return {};
}

bool File::logged() const {
  return writable_ && settings_.durability == Durability::Node && settings_.mode == Mode::Async;
}

bool File::straight_home(std::uint64_t bytes) const {
  return settings_.admission_write == Admission::Auto && settings_.mode == Mode::Async && !logged() &&
         !home_->worth_staging(bytes);
}

std::uint64_t File::max_size() const { return (kMaxBlock + 1) * buffer_.core_.bucket_size(); }

Status File::fits(std::uint64_t offset, std::uint64_t length) const {
  if (offset <= max_size() && length <= max_size() - offset) return {};
  return fail(EFBIG, "a buffered file cannot be that large: " + path());
}

bool File::within_own_limit(std::uint64_t offset, std::uint64_t length) {
  if (offset + length <= own_limit_.load(std::memory_order_relaxed)) return true;
  own_limit_.store(own_file_size_limit(), std::memory_order_relaxed);
  return offset + length <= own_limit_.load(std::memory_order_relaxed);
}

Status File::refused_by_limit(std::uint64_t offset) const {
  std::byte nothing{};
  iovec piece{&nothing, 1};
  FOREBAY_TRY(home_->write_some({&piece, 1}, std::max(offset, own_limit_.load(std::memory_order_relaxed))));
  return fail(EFBIG, "the limit on file sizes of this process does not allow that: " + path());
}

Result<std::uint64_t> File::write_up_to_limit(std::span<const Piece> pieces) {
  std::uint64_t written = 0;
  for (const auto& piece : pieces) {
    const auto limit = own_limit_.load(std::memory_order_relaxed);
    if (piece.offset >= limit) {
      if (written == 0) FOREBAY_TRY(refused_by_limit(piece.offset));
      break;
    }
    const auto room = std::min<std::uint64_t>(limit - piece.offset, piece.data.size());
    const Piece allowed{piece.offset, piece.data.first(room)};
    const auto took = write({&allowed, 1});
    if (!took && written == 0) return took;
    written += took.value_or(0);
    if (!took || *took != piece.data.size()) break;
  }
  return written;
}

Status File::report() {
  const auto& record = buffer_.core_.control.file(number_);
  const auto now = record.error_sequence.load();
  if (errors_seen_.load(std::memory_order_relaxed) == now || errors_seen_.exchange(now) == now) return {};
  const auto code = record.error.load();
  if (code == 0) return {};
  return fail_errno(static_cast<int>(code), "carry home", path());
}

Result<std::uint64_t> File::write_staged(std::span<const Piece> pieces) {
  // A drain may carry these bytes home before this returns, with the time that it finds.
  changed();
  std::uint64_t written = 0;
  while (!pieces.empty()) {
    // A piece that goes straight home does so by itself.
    const bool straight = straight_home(pieces.front().data.size());
    std::size_t count = 1;
    while (!straight && count < pieces.size() && !straight_home(pieces[count].data.size())) ++count;
    const auto together = pieces.first(count);
    const auto put = buffer_.stager_.put(home_, settings_, together,
                                         straight ? Stager::Way::kStraightHome : Stager::Way::kStaged);
    if (!put && written == 0) return put;
    written += put.value_or(0);
    if (!put || *put != size_of(together)) break;
    pieces = pieces.subspan(count);
  }
  changed();
  return written;
}

Result<std::uint64_t> File::write_past(std::span<const Piece> pieces) {
  std::uint64_t written = 0;
  for (const auto& [offset, data] : pieces) {
    if (data.empty()) continue;
    iovec piece{const_cast<std::byte*>(data.data()), data.size()};
    const auto took = home_->write_some({&piece, 1}, offset);
    if (!took && written == 0) return took;
    written += took.value_or(0);
    if (!took || *took != data.size()) break;
  }
  count(buffer_.core_.counters().passed_through, written);
  // What was promised to outlive the node is not logged on this way.
  if (settings_.durability != Durability::Process) FOREBAY_TRY(sync_data());
  return written;
}

Status File::sync_data() const {
  const OwnIo own;
  return ::fdatasync(home_->fd()) == 0 ? Status{} : fail_errno(errno, "sync", path());
}

Status File::make_home_durable() const {
  const bool promised = settings_.durability != Durability::Process && settings_.mode != Mode::Scratch;
  return promised && !logged() ? sync_data() : Status{};
}

Status File::make_durable(std::span<const Piece> pieces, std::uint64_t written) {
  const bool through = settings_.durability == Durability::Home || settings_.mode == Mode::Sync ||
                       settings_.admission_write == Admission::Never;
  if (!through && !logged()) return {};
  const auto bucket_size = buffer_.core_.bucket_size();
  std::uint64_t first = max_size();
  std::uint64_t last = 0;
  for (const auto& [offset, data] : pieces) {
    const auto length = std::min<std::uint64_t>(data.size(), written);
    if (length == 0) continue;
    written -= length;
    if (logged()) FOREBAY_TRY(buffer_.node_log_.append(home_, offset, data.first(length)));
    first = std::min(first, offset);
    last = std::max(last, offset + length - 1);
  }
  if (!through || first > last) return {};
  FOREBAY_TRY(buffer_.drainer_.flush(home_, first / bucket_size, last / bucket_size));
  return make_home_durable();
}

Result<std::uint64_t> File::write(std::span<const Piece> pieces) {
  FOREBAY_TRY(usable(true));
  FOREBAY_TRY(report());
  if (size_of(pieces) == 0) return 0;
  for (const auto& [offset, data] : pieces) FOREBAY_TRY(fits(offset, data.size()));
  auto& tally = buffer_.core_.tally;
  tally.add(&Counters::writes, pieces.size());
  if (direct()) return write_past(pieces);
  for (const auto& [offset, data] : pieces) {
    if (!within_own_limit(offset, data.size())) return write_up_to_limit(pieces);
  }
  FOREBAY_ASSIGN(const auto written, write_staged(pieces));
  tally.add(&Counters::written_bytes, written);
  // Whoever made it direct meanwhile may not have seen these bytes.
  if (direct()) FOREBAY_TRY(drain());
  FOREBAY_TRY(make_durable(pieces, written));
  return written;
}

Status File::write_as_one(const Batch& batch) {
  FOREBAY_TRY(usable(true));
  FOREBAY_TRY(report());
  auto& tally = buffer_.core_.tally;
  for (const auto& piece : batch.pieces) {
    FOREBAY_TRY(fits(piece.offset, piece.data.size()));
    if (!within_own_limit(piece.offset, piece.data.size())) FOREBAY_TRY(refused_by_limit(piece.offset));
  }
  tally.add(&Counters::writes, batch.pieces.size());
  if (direct()) {
    FOREBAY_ASSIGN(const auto written, write_past(batch.pieces));
    if (written != size_of(batch.pieces)) return fail(EIO, "home took only a part of a change of " + path());
    return batch.size ? truncate(*batch.size) : Status{};
  }
  for (const auto& piece : batch.pieces) tally.add(&Counters::written_bytes, piece.data.size());
  FOREBAY_TRY(buffer_.batches_.carry_out(home_, settings_, batch));
  FOREBAY_TRY(make_durable(batch.pieces, size_of(batch.pieces)));
  if (!batch.size) return {};
  return logged() ? buffer_.node_log_.truncated(home_, *batch.size) : make_home_durable();
}

Status File::withdraw_will() {
  FOREBAY_TRY(usable(true));
  return buffer_.batches_.withdraw_will(*home_);
}

Result<std::uint64_t> File::append(std::span<const std::byte> data) {
  FOREBAY_TRY(usable(true));
  FOREBAY_TRY(report());
  std::uint64_t at = 0;
  {
    FOREBAY_ASSIGN(const auto lock, FileLock::take(buffer_.core_, buffer_.drain_, number_, home_.get()));
    FOREBAY_ASSIGN(at, size());
    const Piece piece{at, data};
    const bool past = direct();
    if (!past && !within_own_limit(at, data.size())) FOREBAY_TRY(refused_by_limit(at));
    FOREBAY_ASSIGN(const auto written, past ? write_past({&piece, 1}) : write_staged({&piece, 1}));
    buffer_.core_.tally.add(&Counters::writes);
    if (!past) buffer_.core_.tally.add(&Counters::written_bytes, written);
    if (written != data.size()) return fail(EIO, "only a part could be appended to " + path());
  }
  if (direct()) FOREBAY_TRY(drain());
  const Piece piece{at, data};
  FOREBAY_TRY(make_durable({&piece, 1}, data.size()));
  return at;
}

void File::changed() {
  auto& record = buffer_.core_.control.file(number_);
  if ((record.flags.load(std::memory_order_relaxed) & kFileTimed) == 0) return;
  // The clock that the kernel gives files their times from.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const auto time = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  record.written_ns.store(time, std::memory_order_relaxed);
  record.changed_ns.store(time, std::memory_order_relaxed);
}

}  // namespace forebay
