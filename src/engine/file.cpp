#include "engine/file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "engine/buffer.hpp"
#include "engine/reservations.hpp"
#include "engine/truncate.hpp"
#include "os/own_file_size.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

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
  return logged() ? buffer_.node_log_.truncated(home_, size) : make_home_durable();
}

Status File::go_direct() {
  FOREBAY_TRY(attached());
  auto& record = buffer_.core_.control.file(number_);
  record.flags.fetch_or(kFileBypass);
  // What is logged must not come back over what is written past the log.
  if (const auto status = logged() ? buffer_.node_log_.bring_home(home_) : drain_all(); !status) {
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

bool File::unsaved() const {
  auto& core = buffer_.core_;
  return maybe_dirty(core.control.file(number_)) && !unsaved_blocks(core, number_, 0, kMaxBlock).empty();
}

Status File::drain_all() {
  FOREBAY_TRY(attached());
  auto& core = buffer_.core_;
  if (!unsaved()) return {};
  if (home_->writable()) return buffer_.drainer_.flush(home_, 0, kMaxBlock);
  if (const auto writable = home_->again()) return buffer_.drainer_.flush(*writable, 0, kMaxBlock);
  // Only who wrote it may, and does so when it sees the wish.
  auto& flags = core.control.file(number_).flags;
  HomeWait wait(core, number_);
  while (unsaved()) {
    if ((flags.load() & kFileWanted) == 0) flags.fetch_or(kFileWanted);
    if (wait.over()) return fail(ETIMEDOUT, path() + " is not home yet");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

Status File::drain(std::optional<std::chrono::nanoseconds> patience) {
  FOREBAY_TRY(attached());
  if (settings_.mode == Mode::Scratch || settings_.mode == Mode::Bypass) return {};
  const auto until = patience ? std::optional(Clock::now() + *patience) : std::nullopt;
  const auto status = logged() ? buffer_.node_log_.bring_home(home_, until)
                               : buffer_.drainer_.flush(home_, 0, kMaxBlock, until);
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
