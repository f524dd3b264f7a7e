#include "engine/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <format>
#include <mutex>
#include <thread>

#include "engine/buffer.hpp"
#include "engine/reservations.hpp"
#include "engine/truncate.hpp"
#include "os/own_file_size.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kBringStep = 1u << 20;
// Reads nearer to each other than this are worth the bytes between them.
constexpr std::uint64_t kNearWants = 32u << 10;

std::uint64_t size_of(std::span<const Piece> pieces) {
  std::uint64_t sum = 0;
  for (const auto& piece : pieces) sum += piece.data.size();
  return sum;
}

}  // namespace

Result<std::uint64_t> Ticket::wait(std::chrono::nanoseconds patience) const {
  if (!result_.valid()) return 0;
  if (result_.wait_for(patience) != std::future_status::ready)
    return fail(ETIMEDOUT, "the prefetch has not finished yet");
  return result_.get();
}

File::File(Buffer& buffer, std::uint32_t number, std::shared_ptr<HomeFile> home, FileSettings settings,
           bool readable, bool writable)
    : buffer_(buffer),
      number_(number),
      home_(std::move(home)),
      settings_(std::move(settings)),
      readable_(readable),
      writable_(writable),
      own_limit_(own_file_size_limit()),
      errors_seen_(buffer.core().control.file(number).error_sequence.load()),
      readahead_(settings_.readahead_min, settings_.readahead_max) {}

File::~File() {
  if (!closed_.load() && buffer_.attached()) (void)close();
}

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
  if (logged() && ::fdatasync(home_->fd()) != 0) return fail_errno(errno, "sync", path());
  return written;
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
    if (!through) FOREBAY_TRY(buffer_.node_log_.append(home_, offset, data.first(length)));
    first = std::min(first, offset);
    last = std::max(last, offset + length - 1);
  }
  if (!through || first > last) return {};
  return buffer_.drainer_.flush(home_, first / bucket_size, last / bucket_size,
                                Clock::now() + buffer_.core_.settings.limits.home_wait);
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
  for (const auto& piece : batch.pieces) FOREBAY_TRY(make_durable({&piece, 1}, piece.data.size()));
  return batch.size && logged() ? buffer_.node_log_.truncated(home_, *batch.size) : Status{};
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

bool File::ready_to_read() const {
  return readable_ && !closed_.load(std::memory_order_relaxed) && buffer_.attached();
}

Result<std::uint64_t> File::read(std::uint64_t offset, std::span<std::byte> out) {
  if (!ready_to_read()) return std::unexpected(usable(false).error());
  buffer_.core_.tally.add(&Counters::reads);
  if (direct()) {
    const auto got = home_->read(out.data(), out.size(), offset);
    count(buffer_.core_.counters().passed_through, got.value_or(0));
    return got;
  }
  auto got = buffer_.fetcher_.get(home_, settings_, offset, out, memo_);
  if (!got) return got;
  if (!random_.load(std::memory_order_relaxed)) read_ahead(offset, *got);
  return got;
}

Result<std::uint64_t> File::read(std::span<const Want> wants) {
  const bool together = wants.size() > 1 && ready_to_read() && !direct();
  std::uint64_t came = 0;
  std::size_t singly = together ? 0 : wants.size();  // so many are read one by one
  while (!wants.empty()) {
    if (singly == 0) {
      auto count = buffer_.fetcher_.get_near(*home_, settings_, wants, memo_);
      if (count == 0) {
        singly = bring_near(wants);
        count = buffer_.fetcher_.get_near(*home_, settings_, wants, memo_);
      }
      if (count != 0) {
        came += note_reads(wants.first(count));
        wants = wants.subspan(count);
        singly = 0;
        continue;
      }
    }
    FOREBAY_ASSIGN(const auto got, read(wants.front().offset, wants.front().out));
    came += got;
    if (got < wants.front().out.size()) break;
    wants = wants.subspan(1);
    --singly;
  }
  return came;
}

std::uint64_t File::note_reads(std::span<const Want> wants) {
  buffer_.core_.tally.add(&Counters::reads, wants.size());
  std::uint64_t came = 0;
  for (const auto& want : wants) came += want.out.size();
  // To who looks ahead they are one read of what they lie in.
  const auto from = wants.front().offset;
  const auto to = wants.back().offset + wants.back().out.size();
  if (to > from && !random_.load(std::memory_order_relaxed)) read_ahead(from, to - from);
  return came;
}

std::size_t File::bring_near(std::span<const Want> wants) {
  const auto from = wants.front().offset;
  auto to = from + wants.front().out.size();
  std::size_t near = 1;
  for (; near < wants.size(); ++near) {
    const auto& [offset, out] = wants[near];
    if (offset < to || offset - to >= kNearWants || offset + out.size() - from > kBringStep) break;
    to = offset + out.size();
  }
  if (near == 1 || settings_.admission_read == Admission::Never || settings_.mode == Mode::Bypass ||
      !buffer_.options_.background || buffer_.fetcher_.has(*home_, from, to - from)) {
    return near;
  }
  const auto brought = buffer_.fetcher_.bring(*home_, settings_, from, to - from);
  if (brought) count(buffer_.core_.counters().readahead_bytes, *brought);
  return near;
}

void File::read_ahead(std::uint64_t offset, std::uint64_t length) {
  if (settings_.readahead_max == 0 || length == 0 || settings_.admission_read == Admission::Never ||
      settings_.mode == Mode::Bypass || !buffer_.options_.background) {
    return;
  }
  const auto size = buffer_.core_.control.file(number_).size.load(std::memory_order_relaxed);
  const auto advice = readahead_.observe(offset, length, size);
  for (const auto& range : advice.all()) {
    for (std::uint64_t done = 0; done < range.length; done += kBringStep) {
      const auto from = range.offset + done;
      const auto step = std::min(kBringStep, range.length - done);
      if (buffer_.fetcher_.has(*home_, from, step)) continue;
      buffer_.readers_.post(
          [&buffer = buffer_, home = home_, settings = settings_, from, step] {
            if (!buffer.attached()) return;  // it leaves
            const auto came = buffer.fetcher_.bring(*home, settings, from, step);
            if (came) count(buffer.core_.counters().readahead_bytes, *came);
          },
          Crew::Urgency::kBack);
    }
  }
}

Result<std::uint64_t> File::size() const {
  FOREBAY_TRY(attached());
  if (direct()) {
    FOREBAY_ASSIGN(const auto stamp, stamp_of(home_->fd(), path()));
    return stamp.size;
  }
  return buffer_.core_.control.file(number_).size.load(std::memory_order_acquire);
}

Status File::truncate(std::uint64_t size) {
  FOREBAY_TRY(usable(true));
  if (size > max_size()) return fail(EFBIG, "a buffered file cannot be that large: " + path());
  FOREBAY_TRY(truncate_file(buffer_.core_, buffer_.drain_, number_, home_.get(), size));
  changed();
  return logged() ? buffer_.node_log_.truncated(home_, size) : Status{};
}

bool File::direct() const {
  const auto flags = buffer_.core_.control.file(number_).flags.load(std::memory_order_relaxed);
  return settings_.mode == Mode::Bypass || (flags & kFileBypass) != 0;
}

Status File::go_direct() {
  FOREBAY_TRY(attached());
  auto& record = buffer_.core_.control.file(number_);
  record.flags.fetch_or(kFileBypass);
  if (const auto status = drain_all(); !status) {
    if (settings_.mode != Mode::Bypass) record.flags.fetch_and(~std::uint32_t{kFileBypass});
    return status;
  }
  drop_buckets(buffer_.core_, number_, 0, kMaxBlock, Drop::kClean);
  return {};
}

Status File::meet_home() {
  FOREBAY_TRY(attached());
  const std::scoped_lock lock(buffer_.mutex_);
  return buffer_.meet_home(number_, home_->fd(), path(), Look::kAsk);
}

void File::keep_times() { buffer_.core_.control.file(number_).flags.fetch_or(kFileTimed); }

std::int64_t File::written_ns() const { return buffer_.core_.control.file(number_).written_ns.load(); }

void File::set_written_ns(std::int64_t time) { buffer_.core_.control.file(number_).written_ns.store(time); }

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

bool File::unsaved() const {
  auto& core = buffer_.core_;
  return maybe_dirty(core.control.file(number_)) && !unsaved_blocks(core, number_, 0, kMaxBlock).empty();
}

Status File::drain_all() {
  FOREBAY_TRY(attached());
  auto& core = buffer_.core_;
  if (!unsaved()) return {};
  const auto deadline = Clock::now() + core.settings.limits.home_wait;
  if (home_->writable()) return buffer_.drainer_.flush(home_, 0, kMaxBlock, deadline);
  if (const auto writable = home_->again()) return buffer_.drainer_.flush(*writable, 0, kMaxBlock, deadline);
  // Only who wrote it may: it does so by itself.
  while (unsaved()) {
    if (Clock::now() >= deadline) return fail(ETIMEDOUT, path() + " is not home yet");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

Status File::drain() { return drain(buffer_.core_.settings.limits.home_wait); }

Status File::drain(std::chrono::nanoseconds patience) {
  FOREBAY_TRY(attached());
  if (settings_.mode == Mode::Scratch || settings_.mode == Mode::Bypass) return {};
  const auto deadline = Clock::now() + patience;
  const auto status = logged() ? buffer_.node_log_.bring_home(home_, deadline)
                               : buffer_.drainer_.flush(home_, 0, kMaxBlock, deadline);
  if (!status && status.error().code != ETIMEDOUT)
    errors_seen_.store(buffer_.core_.control.file(number_).error_sequence.load());
  return status;
}

Status File::sync() {
  FOREBAY_TRY(attached());
  if (!writable_) return {};
  FOREBAY_TRY(usable(true));
  if (settings_.mode == Mode::Scratch || (settings_.on_flush == OnFlush::Stage && !direct())) return report();
  FOREBAY_TRY(drain());
  const OwnIo own;
  if (!logged() && ::fsync(home_->fd()) != 0) return fail_errno(errno, "sync", path());
  return report();
}

Status File::close() {
  FOREBAY_TRY(attached());
  if (closed_.load()) return fail(EBADF, path() + " is closed");
  Status status;
  // What has no name any more goes with its last user.
  const bool goes_home = !is_scratch(buffer_.core_.control.file(number_));
  if (writable_ && goes_home && waits_at_close()) {
    const auto& core = buffer_.core_;
    const auto began = core.control.nanoseconds();
    status = drain();
    count(core.counters().close_wait_ns, core.control.nanoseconds() - began);
  }
  if (status) status = report();
  closed_.store(true);
  buffer_.closed(*home_);
  return status;
}

void File::leave_descriptor() {
  if (!writable_ || !buffer_.attached()) return;
  if (auto again = home_->again()) buffer_.drainer_.exchange(*home_, std::move(*again));
}

bool File::others_here() const { return buffer_.attached() && buffer_.has_open(number_); }

void File::leave_to(const File* heir) {
  if (!writable_ || !buffer_.attached()) return;
  if (heir != nullptr) return buffer_.drainer_.exchange(*home_, heir->home_);
  buffer_.drainer_.release(number_);
}

Ticket File::prefetch(std::uint64_t offset, std::uint64_t length) {
  auto promise = std::make_shared<std::promise<Result<std::uint64_t>>>();
  Ticket ticket(promise->get_future().share());
  if (const auto status = usable(false); !status) {
    promise->set_value(std::unexpected(status.error()));
    return ticket;
  }
  const auto size = buffer_.core_.control.file(number_).size.load();
  const auto end = std::min(size, length > size - std::min(size, offset) ? size : offset + length);
  const auto steps = end > offset ? (end - offset + kBringStep - 1) / kBringStep : 0;
  if (steps == 0) {
    promise->set_value(std::uint64_t{0});
    return ticket;
  }
  struct Gather {
    std::mutex mutex;
    std::uint64_t left;
    Result<std::uint64_t> sum = std::uint64_t{0};
  };
  auto gather = std::make_shared<Gather>();
  gather->left = steps;
  for (std::uint64_t at = offset; at < end; at += kBringStep) {
    const auto task = [&buffer = buffer_, home = home_, settings = settings_, promise, gather, at,
                       step = std::min(kBringStep, end - at)] {
      const auto came = buffer.attached()
                            ? buffer.fetcher_.bring(*home, settings, at, step, Fetcher::Others::kWaitFor)
                            : fail(ECANCELED, "this process leaves the buffer");
      if (came) count(buffer.core_.counters().prefetched_bytes, *came);
      const std::scoped_lock lock(gather->mutex);
      if (!came) {
        gather->sum = std::unexpected(came.error());
      } else if (gather->sum) {
        *gather->sum += *came;
      }
      if (--gather->left == 0) promise->set_value(gather->sum);
    };
    if (!buffer_.readers_.post(task)) task();
  }
  return ticket;
}

Status File::pin(std::uint64_t offset, std::uint64_t length) {
  FOREBAY_TRY(usable(false));
  FOREBAY_TRY(prefetch(offset, length).wait(buffer_.core_.settings.limits.home_wait));
  buffer_.core_.control.file(number_).flags.fetch_or(kFilePinned);
  buffer_.fetcher_.pin(number_, offset, length, true);
  return {};
}

Status File::unpin(std::uint64_t offset, std::uint64_t length) {
  FOREBAY_TRY(usable(false));
  buffer_.fetcher_.pin(number_, offset, length, false);
  return {};
}

Status File::hint(Hint hint, std::uint64_t offset, std::uint64_t length) {
  FOREBAY_TRY(attached());
  switch (hint) {
    case Hint::kNormal:
    case Hint::kSequential:
      random_.store(false);
      break;
    case Hint::kRandom:
      random_.store(true);
      break;
    case Hint::kWillNeed:
      (void)prefetch(offset, length);
      break;
    case Hint::kDontNeed:
      return evict(offset, length);
    case Hint::kExclusive:
      buffer_.core_.control.file(number_).flags.fetch_or(kFileExclusive);
      break;
  }
  return {};
}

Status File::evict(std::uint64_t offset, std::uint64_t length) {
  FOREBAY_TRY(attached());
  if (length == 0) return {};
  const auto bucket_size = buffer_.core_.bucket_size();
  const auto end = length > max_size() - std::min(offset, max_size()) ? max_size() : offset + length;
  drop_buckets(buffer_.core_, number_, offset / bucket_size, std::min((end - 1) / bucket_size, kMaxBlock),
               Drop::kCleanUnpinned);
  return {};
}

Status File::forget() {
  FOREBAY_TRY(attached());
  drop_buckets(buffer_.core_, number_, 0, kMaxBlock, Drop::kClean);
  return {};
}

Result<std::uint64_t> File::reserve(std::uint64_t size) {
  FOREBAY_TRY(attached());
  FOREBAY_TRY(forebay::reserve(buffer_.core_, number_, size, ReserveKind::Soft, Before::kReplaced));
  return reserved();
}

std::uint64_t File::reserved() const { return buffer_.core_.control.file(number_).reserve.load(); }

Result<std::uint64_t> File::room() const {
  FOREBAY_TRY(attached());
  const auto& record = buffer_.core_.control.file(number_);
  const auto left = unreserved(buffer_.core_, number_);
  const auto filled = std::uint64_t{record.buckets.load()} * buffer_.core_.bucket_size();
  return left - std::min(left, filled);
}

void File::pause_drain(bool paused) {
  if (buffer_.attached()) buffer_.drainer_.pause(number_, paused);
}

void File::hold_drain() {
  if (!buffer_.attached() || !buffer_.drainer_.hold(number_)) return;
  buffer_.core_.files.hold(number_);
  // Others who look from here on step back; what they are about is waited for.
  if (buffer_.core_.files.others_may_carry(number_))
    (void)wait_out_claims(buffer_.core_, buffer_.drain_, number_);
}

void File::let_drain_go() {
  if (buffer_.attached() && buffer_.drainer_.let_go(number_)) buffer_.core_.files.let_go(number_);
}

bool File::waits_at_close() const {
  const bool wants_home = settings_.on_close == OnClose::Home && !detach_on_close_.load();
  return (wants_home || buffer_.drainer_.crowded()) && settings_.mode != Mode::Scratch;
}

void File::keep_after_close(bool keep) {
  if (!buffer_.attached()) return;
  auto& flags = buffer_.core_.control.file(number_).flags;
  const bool kept = (flags.load() & kFileDrops) == 0;
  if (keep && !kept) flags.fetch_and(~std::uint32_t{kFileDrops});
  if (!keep && kept) flags.fetch_or(kFileDrops);
}

void File::detach_on_close() {
  detach_on_close_.store(true);
  if (buffer_.attached()) buffer_.drainer_.detach(number_);
}

}  // namespace forebay
