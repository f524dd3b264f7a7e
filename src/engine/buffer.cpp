#include "engine/buffer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.hpp"
#include "base/log.hpp"
#include "engine/handover.hpp"
#include "engine/reservations.hpp"
#include "engine/truncate.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
// For threads of a home that has been waited for in vain.
constexpr std::chrono::nanoseconds kGrace = std::chrono::milliseconds(100);

Result<std::string> real_path(int fd, const std::string& path) {
  std::string real(4096, '\0');
  const auto link = format_text("/proc/self/fd/{}", fd);
  const ssize_t n = ::readlink(link.c_str(), real.data(), real.size());
  if (n < 0) return fail_errno(errno, "find the name of", path);
  real.resize(static_cast<std::size_t>(n));
  return real;
}

// Opens the real file so that the engine can read and write it at will, whatever of that the caller asked
// for.
Result<Fd> open_home(const std::string& path, int flags, mode_t mode, bool& writable) {
  const int access = flags & O_ACCMODE;
  const int kept =
      (flags & ~(O_ACCMODE | O_APPEND | O_TRUNC | O_DIRECT | O_SYNC | O_DSYNC)) | O_CLOEXEC | O_NOCTTY;
  writable = access != O_RDONLY;
  Fd fd(::open(path.c_str(), kept | (writable ? O_RDWR : O_RDONLY), mode));
  if (!fd && errno == EACCES && access == O_WRONLY) fd.reset(::open(path.c_str(), kept | O_WRONLY, mode));
  if (!fd) return fail_errno(errno, "open", path);
  return fd;
}

// Right after meet_home: there is nothing to cut, neither here nor at home, which need not be asked again.
bool known_empty(const FileRecord& record) {
  return record.home_size.load() == 0 && record.size.load() == 0 && record.intent.load() == 0 &&
         !maybe_dirty(record);
}

}  // namespace

Result<std::unique_ptr<Buffer>> Buffer::attach(const Settings& settings, AttachOptions options) {
  FOREBAY_ASSIGN(auto joined, join_buffer(settings, options.create));
  const bool fresh = joined.fresh;
  std::unique_ptr<Buffer> buffer(new Buffer(std::move(joined), options));
  if (fresh) FOREBAY_TRY(buffer->replay());
  const bool deaths = !buffer->core_.peers.dead().empty();
  if (deaths) buffer->put_right();
  if (options.background) {
    const bool orphans = buffer->drainer_.any_orphan();
    if (!options.idle_at_first || orphans) buffer->begin_background();
    if (deaths || orphans) (void)buffer->finish_aside();
  }
  return buffer;
}

Buffer::Buffer(Joined joined, AttachOptions options)
    : core_(std::move(joined.settings), std::move(joined.profile), std::move(joined.control),
            std::move(joined.peers), std::move(joined.tiers)),
      options_(options),
      crew_(core_.settings.drain.in_flight),
      readers_(core_.settings.drain.in_flight),
      drainer_(core_, crew_),
      mover_(
          core_, std::move(joined.ring_lease),
          [this] {
            put_right();
            (void)finish_aside();
          },
          [this] { drainer_.look_for_wishes(); }),
      stager_(core_, drainer_, mover_),
      fetcher_(core_, stager_, readers_),
      drain_(core_),
      batches_(core_, stager_, drain_),
      node_log_(core_, drainer_),
      passed_(core_.control.shared().passed) {
  drainer_.on_orphans([this] { (void)finish_aside(); });
}

void Buffer::begin_background() {
  if (begun_.load(std::memory_order_acquire)) return;
  const std::scoped_lock lock(beginning_);
  if (begun_.load(std::memory_order_relaxed)) return;
  const bool drains = drainer_.start();
  const bool moves = mover_.start();
  // The next open tries again.
  begun_.store(drains && moves, std::memory_order_release);
  if (drains && moves) return;
  const bool said = std::exchange(said_no_threads_, true);
  if (!said) log_warn("the system has no more threads: bytes go home only when somebody waits for them");
}

Buffer::~Buffer() {
  // A forked child has none of the threads and must not touch what its parent owns.
  if (!attached()) return;
  (void)detach();
}

// A new buffer where journals lie: the node was lost, and they hold what had been promised to survive that.
Status Buffer::replay() {
  FOREBAY_ASSIGN(replayed_, replay_journals(core_));
  const auto& report = replayed_;
  core_.control.shared().journal_sequence.store(report.highest_seq);
  if (report.bytes != 0) {
    log_warn("carried home {} of {} files from the journals of a node that was lost",
             format_bytes(report.bytes), report.files);
    count(core_.counters().recovered_bytes, report.bytes);
  }
  for (const auto& remark : report.remarks) log_error("journal: {}", remark);
  for (const auto& failure : report.failures)
    log_error("journal: {}: {}", failure.file.path, failure.error.message);
  return {};
}

void Buffer::put_right() {
  // Who dies from here on may leave something behind the sweep: those are buried by the next one.
  const auto dead = core_.peers.dead();
  core_.buckets.sweep();
  core_.files.sweep();
  (void)core_.files.undisturbed([&] { recount_hard_claims(core_.control); });
  rebuild_dirty_filters(core_);
  core_.peers.bury(dead);
  for (const auto file : core_.files.all()) {
    if (core_.control.file(file).flags.load() != 0)
      core_.files.unless_in_use(file, [&] { end_wishes(file); });
  }
}

void Buffer::finish_at_home() {
  for (const auto file : core_.files.all()) {
    if (core_.control.file(file).intent.load() != 0) (void)help_truncation(core_, drain_, file, nullptr);
  }
  batches_.finish_all();
  drop_closed();
}

std::size_t Buffer::recover() {
  put_right();
  finish_at_home();
  return drainer_.adopt_orphans();
}

std::future<void> Buffer::finish_aside() {
  auto done = std::make_shared<std::promise<void>>();
  auto future = done->get_future();
  const auto task = [this, done] {
    finish_at_home();
    if (options_.background) drainer_.adopt_orphans();
    done->set_value();
  };
  if (!finisher_.post(task)) task();
  return future;
}

bool Buffer::put_right(std::chrono::steady_clock::time_point until) {
  put_right();
  return finish_aside().wait_until(until) == std::future_status::ready;
}

Result<std::shared_ptr<File>> Buffer::open(const std::string& path, int flags, mode_t mode,
                                           const std::function<void(FileSettings&)>& adjust) {
  if (!attached()) return fail(ENOTCONN, "this process is not attached to the buffer");
  const OwnIo own;
  bool writable = false;
  FOREBAY_ASSIGN(auto fd, open_home(path, flags, mode, writable));
  return enter(std::move(fd), path, flags, writable, Look::kJustOpened, adjust);
}

Result<std::shared_ptr<File>> Buffer::open_descriptor(int fd, int flags, Look look,
                                                      const std::function<void(FileSettings&)>& adjust) {
  if (!attached()) return fail(ENOTCONN, "this process is not attached to the buffer");
  const OwnIo own;
  const auto path = format_text("/proc/self/fd/{}", fd);
  const int has = ::fcntl(fd, F_GETFL);
  if (has < 0) return fail_errno(errno, "examine", path);
  // What a duplicate shares with the caller's must not come in our way.
  const bool apart = (has & (O_APPEND | O_DIRECT)) != 0;
  Fd home(apart ? ::open(path.c_str(), (has & O_ACCMODE) | O_CLOEXEC | O_NOCTTY)
                : ::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!home) return fail_errno(errno, "open", path);
  return enter(std::move(home), path, flags, (has & O_ACCMODE) != O_RDONLY, look, adjust);
}

Result<HomeStamp> Buffer::look_at(int fd, const std::string& path, Look look) {
  return look == Look::kAsk ? stamp_of(fd, path) : core_.home_stamps.just_answered(fd, path);
}

Result<std::shared_ptr<File>> Buffer::enter(Fd fd, const std::string& path, int flags, bool writable,
                                            Look look, const std::function<void(FileSettings&)>& adjust) {
  if (options_.background) begin_background();
  FOREBAY_ASSIGN(const auto stamp, look_at(fd.get(), path, look));
  if (!stamp.regular) return fail(EINVAL, path + " is not a regular file");
  FOREBAY_ASSIGN(auto real, real_path(fd.get(), path));
  auto settings = core_.settings.for_file(real, (flags & O_TRUNC) != 0 ? 0 : stamp.size);
  if (adjust) adjust(settings);
  const auto only_tier = core_.tiers.number_of(settings.tier);
  if (!only_tier && !settings.tier.empty())
    return fail(EINVAL,
                format_text("the buffer has no tier named \"{}\", asked for {}", settings.tier, path));

  const bool past = writable && settings.written_past;
  const auto marks = (writable ? kOpenToWrite : 0) | (past ? kOpenPast : 0);
  std::uint32_t number = 0;
  bool shared = false;
  {
    const std::scoped_lock lock(mutex_);
    FOREBAY_ASSIGN(const auto opened, core_.files.open(stamp, real, marks));
    number = opened.file;
    shared = opened.shared || open_files_.contains(number);
    auto& handles = open_files_[number];
    if (handles++ != 0) core_.files.close(number);  // one entry a process is enough
    // A record that was made now has what home was just asked for.
    if (const auto status = opened.fresh ? Status{} : meet_home(number, fd.get(), real, look); !status) {
      if (--handles == 0) {
        open_files_.erase(number);
        core_.files.close(number);
      }
      return std::unexpected(status.error());
    }
  }
  auto speed = core_.home_speeds.of(stamp.identity.device, real);
  const auto home = std::make_shared<HomeFile>(core_.files.key(number, 0), std::move(fd), std::move(real),
                                               writable, std::move(speed));
  auto ready = batches_.finish(number, shared ? Batches::Writer::kLives : Batches::Writer::kDead);
  if (ready) ready = agree_on_bypass(home, shared, settings);
  if (!ready) {
    closed(*home);
    return std::unexpected(ready.error());
  }
  auto file =
      std::make_shared<File>(*this, number, home, settings, (flags & O_ACCMODE) != O_WRONLY, writable);
  if (settings.reserve_size != 0) {
    FOREBAY_TRY(reserve(core_, number, settings.reserve_size, settings.reserve_kind, Before::kKept));
  }
  // From here on nobody fills; what was filled before may be overwritten unseen.
  if (past) drop_buckets(core_, number, 0, kMaxBlock, Drop::kClean);
  auto& record = core_.control.file(number);
  file->keep_after_close(settings.after_close == AfterClose::Keep);
  record.only_tier.store(only_tier ? *only_tier + 1 : 0);
  if (settings.mode == Mode::Scratch) record.scratch.store(scratch_mark(record));
  if (writable) {
    drainer_.add(home, settings);
    if (settings.durability == Durability::Node && settings.mode == Mode::Async)
      FOREBAY_TRY(node_log_.add(home));
  } else if (maybe_dirty(record)) {
    // Left by somebody who is gone, and nobody else may be there to carry it home.
    if (auto again = HomeFile::reopen(core_, number)) drainer_.add(std::move(*again), settings);
  }
  if (writable && (flags & O_TRUNC) != 0 && !known_empty(record)) FOREBAY_TRY(file->truncate(0));
  const bool buffered = settings.mode != Mode::Bypass;
  if (settings.pin && buffered) {
    record.flags.fetch_or(kFilePinned | kFilePinsAll);
    fetcher_.pin_there(number, 0, kMaxBlock, true);
  }
  if ((settings.pin || settings.prefetch_at_open == PrefetchAtOpen::File) && buffered &&
      (flags & O_ACCMODE) != O_WRONLY) {
    (void)file->prefetch(0, ~std::uint64_t{0} >> 1);
  }
  return file;
}

// What the buffer holds of the file is good as long as home has not changed behind our back. Home is looked
// at under the file's lock: a look from before may be older than a truncation, or than what others wrote and
// closed since.
Status Buffer::meet_home(std::uint32_t number, int fd, const std::string& path, Look look) {
  auto& record = core_.control.file(number);
  FOREBAY_ASSIGN(const auto lock, FileLock::take(core_, drain_, number, nullptr));
  // What is cached is worth one request: the system may remember what home said a while ago.
  const auto look_again = [&] {
    return record.buckets.load() == 0 ? look_at(fd, path, look) : stamp_of(fd, path, AT_STATX_FORCE_SYNC);
  };
  FOREBAY_ASSIGN(auto home, look_again());
  if (record.home_modified_ns.load() == home.modified_ns && record.home_size.load() == home.size) return {};
  // What is unsaved now may be home a moment later: home's size counts only if it was looked at afterwards.
  // A look at what an open brought along may be older than what others wrote since. Who stages beyond the end
  // shows its bytes before it raises the size, and does so after this, or before the size is read here.
  const bool sure = look == Look::kAsk || (open_files_[number] <= 1 && !core_.files.used_by_others(number));
  auto seen = record.size.load();
  const bool saved = sure && unsaved_blocks(core_, number, 0, kMaxBlock).empty();
  FOREBAY_ASSIGN(home, look_again());
  drop_buckets(core_, number, 0, kMaxBlock, Drop::kClean);
  record.home_modified_ns.store(home.modified_ns);
  record.home_size.store(home.size);
  if (saved && record.size.compare_exchange_strong(seen, home.size)) return {};
  while (seen < home.size && !record.size.compare_exchange_weak(seen, home.size)) {
  }
  return {};
}

// All users of a file on a node go the same way, or they would not see each other's bytes.
Status Buffer::agree_on_bypass(const std::shared_ptr<HomeFile>& home, bool shared, FileSettings& settings) {
  auto& flags = core_.control.file(home->file()).flags;
  const bool bypassed = (flags.load() & kFileBypass) != 0;
  if (shared) {
    if (bypassed) {
      settings.mode = Mode::Bypass;
    } else if (settings.mode == Mode::Bypass) {
      settings.mode = Mode::Sync;
    }
    return {};
  }
  if (settings.mode != Mode::Bypass) {
    flags.fetch_and(~std::uint32_t{kFileBypass});
    return {};
  }
  flags.fetch_or(kFileBypass);
  if (maybe_dirty(core_.control.file(home->file()))) {
    FOREBAY_TRY(drainer_.flush(home, 0, kMaxBlock));
  }
  drop_buckets(core_, home->file(), 0, kMaxBlock, Drop::kClean);
  return {};
}

// What was asked for as long as the file was open, here or anywhere. Nobody has it open, or comes to.
void Buffer::end_wishes(std::uint32_t number) {
  auto& record = core_.control.file(number);
  end_reservation(core_, number);
  const auto before = record.flags.fetch_and(~std::uint32_t{kFilePinned | kFilePinsAll | kFileExclusive});
  if ((before & kFilePinned) != 0) fetcher_.pin_there(number, 0, kMaxBlock, false);
}

void Buffer::closed(const HomeFile& home) {
  const auto number = home.file();
  const std::scoped_lock lock(mutex_);
  const auto found = open_files_.find(number);
  if (found == open_files_.end() || --found->second != 0) return;
  open_files_.erase(found);
  drainer_.release(number);
  const bool unlinked = (core_.control.file(number).flags.load() & kFileUnlinked) != 0;
  core_.files.close(number, [&] {
    end_wishes(number);
    node_log_.closed(number);
  });
  if (unlinked) forget_unlinked(number, home.key(0));
  if (!unlinked && home.known(core_.files)) drop_if_closed(core_, number);
}

bool Buffer::has_open(std::uint32_t number) {
  const std::scoped_lock lock(mutex_);
  return open_files_.contains(number);
}

void Buffer::drop_closed() {
  for (const auto file : core_.files.all()) drop_if_closed(core_, file);
}

void Buffer::forget_unlinked(std::uint32_t number, Key key) {
  const auto status = give_up(core_, drain_, number, key);
  if (!status && status.error().code != EBUSY)
    log_warn("what is buffered of a removed file cannot be forgotten yet: {}", status.error().message);
}

void Buffer::unlinked(const HomeIdentity& identity) {
  if (!attached()) return;
  const auto found = core_.files.look_up(identity.device, identity.inode);
  if (!found) return;
  auto& record = core_.control.file(*found);
  const auto key = core_.files.key(*found, 0);
  if (record.born_ns != identity.born_ns) return;
  record.flags.fetch_or(kFileUnlinked);
  record.scratch.store(scratch_mark(record));
  if (!core_.files.in_use(*found)) forget_unlinked(*found, key);
}

Status Buffer::drain(std::optional<std::chrono::nanoseconds> patience) {
  if (!attached()) return fail(ENOTCONN, "this process is not attached to the buffer");
  const auto until = Clock::now() + patience.value_or(core_.settings.limits.home_wait);
  if (finish_aside().wait_until(until) != std::future_status::ready)
    return fail(ETIMEDOUT, "home does not answer: what dead processes left cannot be carried there");
  // Those whom nobody else carries home, whether this process has a background or not.
  if (!options_.background) drainer_.adopt_orphans();
  FOREBAY_TRY(drainer_.flush_all(patience ? std::optional(Clock::now() + *patience) : std::nullopt));
  drop_closed();
  retire_journals(core_);
  return {};
}

void Buffer::remove_scratch() {
  for (const auto file : core_.files.all()) {
    const auto key = core_.files.key(file, 0);
    if (!is_scratch(core_.control.file(file)) || core_.files.in_use(file)) continue;
    const auto home = HomeFile::reopen(core_, file);
    (void)give_up(core_, drain_, file, key, [&] {
      if (home) ::unlink((*home)->path().c_str());
    });
  }
}

void Buffer::operator delete(Buffer* buffer, std::destroying_delete_t) {
  if (buffer->attached()) (void)buffer->detach();
  if (buffer->stuck_.load()) return;
  buffer->~Buffer();
  operator delete(static_cast<void*>(buffer));
}

void Buffer::operator delete(void* memory) { ::operator delete(memory, std::align_val_t{alignof(Buffer)}); }

void* Buffer::operator new(std::size_t size) {
  return ::operator new(size, std::align_val_t{alignof(Buffer)});
}

Status Buffer::detach() {
  {
    const std::scoped_lock lock(mutex_);
    if (detached_.exchange(true)) return {};
    for (const auto& [why, times] : passed_.own()) log_info("not buffered, {} times: {}", times, why);
    for (const auto& [number, handles] : open_files_) core_.files.close(number);
    open_files_.clear();
  }
  auto status = leave();
  if (!status)
    log_warn("left with bytes that are not home yet: {} (`forebay status` shows them)",
             status.error().message);
  return status;
}

// Home is waited for once: what is silent then is not asked again.
Status Buffer::leave() {
  bool silent = false;
  bool all = true;
  const auto ended = [&](auto& threads) {
    const auto patience = silent ? kGrace : core_.settings.limits.home_wait;
    const bool in_time = threads.stop(Clock::now() + patience);
    silent = silent || !in_time;
    all = all && in_time;
  };
  ended(drainer_);
  ended(mover_);
  Status status;
  bool handed_over = false;
  if (options_.background) {
    handed_over = drainer_.any_unsaved(OnClose::Detach) && hand_over_unsaved(core_);
    const auto flush = [&] {
      status = drainer_.flush_all(std::nullopt, handed_over ? std::optional(OnClose::Home) : std::nullopt);
      silent = silent || (!status && status.error().code == ETIMEDOUT);
    };
    flush();
    ended(finisher_);
    if (!silent) flush();  // what was adopted meanwhile
  }
  // The journals of what was handed over stay, for the loss of the node, until it is home.
  if (status && !handed_over) status = node_log_.finish();
  // What was adopted from the dead is home as well: their journals must not bring it back over newer bytes.
  if (status && options_.background && !silent) retire_journals(core_);
  ended(finisher_);
  ended(readers_);
  ended(crew_);
  drop_closed();
  if (!silent) remove_scratch();
  stuck_.store(!all);
  if (!all) log_warn("home does not answer: calls to it are left behind until the process ends");
  return status;
}

}  // namespace forebay
