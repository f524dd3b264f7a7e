#include "engine/drainer.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "engine/home_order.hpp"
#include "engine/ticks.hpp"
#include "engine/truncate.hpp"
#include "os/quiet_thread.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kNever = Clock::time_point::max();
constexpr auto kPressure = std::chrono::milliseconds(500);
constexpr auto kMoment = std::chrono::milliseconds(20);
// Between two looks, however often there is something new: looking costs the writers their locks.
constexpr auto kBreath = std::chrono::milliseconds(2);
// Of a file that others write to past the buffer, in small requests that wait for all that is under way.
constexpr unsigned kBesideOthers = 2;

}  // namespace

bool Drainer::start() {
  if (!thread_.joinable()) thread_ = quiet_thread([this] { run(); });
  running_.store(thread_.joinable(), std::memory_order_relaxed);
  return thread_.joinable();
}

bool Drainer::stop(std::optional<TimePoint> until) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
  if (!thread_.joinable()) return true;
  const bool ended = !until || wake_.wait_until(lock, *until, [&] { return ended_; });
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
  return ended;
}

void Drainer::add(std::shared_ptr<HomeFile> home, const FileSettings& settings) {
  const std::scoped_lock lock(mutex_);
  const auto file = home->file();
  const auto found = targets_.find(file);
  if (found != targets_.end() && found->second.released) --released_;
  const bool paused = found != targets_.end() && !found->second.released && found->second.paused;
  targets_.insert_or_assign(file, Target{.home = std::move(home),
                                         .trigger = settings.drain_trigger,
                                         .on_close = settings.on_close,
                                         .paused = paused});
}

void Drainer::exchange(const HomeFile& one, std::shared_ptr<HomeFile> other) {
  const std::scoped_lock lock(mutex_);
  const auto found = targets_.find(one.file());
  if (found != targets_.end() && found->second.home.get() == &one) found->second.home = std::move(other);
}

void Drainer::release(std::uint32_t file) {
  // At once where nothing is left to do: a descriptor that stays open keeps others from executing the file,
  // and its locks.
  const bool clean =
      !maybe_dirty(core_.control.file(file)) || unsaved_blocks(core_, file, 0, kMaxBlock).empty();
  {
    const std::scoped_lock lock(mutex_);
    const auto found = targets_.find(file);
    if (found == targets_.end() || found->second.released) return;
    if (clean) {
      targets_.erase(found);
      return;
    }
    found->second.released = true;
    ++released_;
  }
  wake(kUrgent);
}

bool Drainer::crowded() {
  const std::scoped_lock lock(mutex_);
  return released_ >= core_.settings.limits.descriptors;
}

void Drainer::wake(Kick wanted) {
  kicked_.store(wanted, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  wake_.notify_all();
}

void Drainer::look_for_wishes() {
  {
    const std::scoped_lock lock(mutex_);
    const auto wanted = [&](const auto& target) {
      return (core_.control.file(target.first).flags.load(std::memory_order_relaxed) & kFileWanted) != 0;
    };
    if (std::ranges::none_of(targets_, wanted)) return;
  }
  wake(kUrgent);
}

void Drainer::press() {
  {
    const std::scoped_lock lock(mutex_);
    const auto until = Clock::now() + kPressure;
    // Whoever waits for room says so again and again: once in a while is enough.
    if (until - pressed_until_ < kPressure / 10) return;
    pressed_until_ = until;
  }
  wake(kUrgent);
}

void Drainer::pause(bool paused) {
  {
    const std::scoped_lock lock(mutex_);
    paused_ = paused;
  }
  wake(kUrgent);
}

void Drainer::pause(std::uint32_t file, bool paused) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = targets_.find(file);
    if (found == targets_.end()) return;
    found->second.paused = paused;
  }
  wake(kUrgent);
}

void Drainer::detach(std::uint32_t file) {
  const std::scoped_lock lock(mutex_);
  const auto found = targets_.find(file);
  if (found != targets_.end()) found->second.on_close = OnClose::Detach;
}

void Drainer::run() {
  auto next = Clock::now();
  auto breath_ends = next;
  for (;;) {
    std::vector<Target> targets;
    bool pressed = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, breath_ends, [&] { return stopping_ || kicked_.load() == kUrgent; });
      const auto ready = [&] { return stopping_ || kicked_.load() != kNotKicked; };
      if (next == kNever) {
        wake_.wait(lock, ready);
      } else {
        wake_.wait_until(lock, next, ready);
      }
      if (stopping_) {
        ended_ = true;
        wake_.notify_all();
        return;
      }
      kicked_.store(kNotKicked);
      next = kNever;
      breath_ends = Clock::now() + kBreath;
      if (paused_) continue;
      pressed = Clock::now() < pressed_until_;
      for (const auto& [file, target] : targets_) targets.push_back(target);
    }
    for (auto& target : targets) {
      next = std::min(next, tend_unless_held(target, pressed));
      const bool known = target.home->known(core_.files);
      if (target.released && (!known || !maybe_dirty(core_.control.file(target.home->file())))) {
        if (known) drop_if_closed(core_, target.home->file());
        const std::scoped_lock lock(mutex_);
        const auto found = targets_.find(target.home->file());
        if (found != targets_.end() && found->second.released && found->second.home == target.home) {
          targets_.erase(found);
          --released_;
          close_aside(std::move(target.home));
        }
      }
    }
    if (orphans_may_come()) {
      if (adopt_) adopt_();
      next = std::min(next, Clock::now() + kMoment);
    }
  }
}

// A close may ask home, too: who looks after all files does not wait for each.
void Drainer::close_aside(std::shared_ptr<HomeFile> home) {
  (void)crew_.post([last = std::move(home)] {}, Crew::Urgency::kBack);
}

// There are some, and by now descriptors for them.
bool Drainer::orphans_may_come() {
  const std::scoped_lock lock(mutex_);
  if (!orphans_wait_ || released_ > core_.settings.limits.descriptors / 2) return false;
  orphans_wait_ = false;
  return true;
}

bool Drainer::hold(std::uint32_t file) {
  std::unique_lock lock(mutex_);
  const bool first = !holds_.contains(file);
  holds_.insert(file);
  wake_.notify_all();
  wake_.wait(lock, [&] { return tended_ != file && !shipping_.contains(file); });
  return first;
}

bool Drainer::let_go(std::uint32_t file) {
  bool last = false;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto held = holds_.find(file); held != holds_.end()) holds_.erase(held);
    last = !holds_.contains(file);
  }
  wake(kUrgent);
  return last;
}

Drainer::TimePoint Drainer::tend_unless_held(const Target& target, bool pressed) {
  const auto file = target.home->file();
  {
    const std::scoped_lock lock(mutex_);
    if (holds_.contains(file)) return kNever;  // who lets go wakes us
    tended_ = file;
  }
  const auto next = tend(target, pressed);
  const std::scoped_lock lock(mutex_);
  tended_.reset();
  wake_.notify_all();
  return next;
}

Drainer::TimePoint Drainer::tend(const Target& target, bool pressed) {
  const auto file = target.home->file();
  auto& record = core_.control.file(file);
  if (!target.home->known(core_.files)) return kNever;
  const bool wanted = (record.flags.load(std::memory_order_relaxed) & kFileWanted) != 0;
  if (wanted && unsaved_blocks(core_, file, 0, kMaxBlock).empty())
    record.flags.fetch_and(~std::uint32_t{kFileWanted});
  if (!maybe_dirty(record) || is_scratch(record)) return kNever;
  const auto now = Clock::now();
  if (record.error.load() != 0) {
    const auto since = std::chrono::nanoseconds(core_.control.nanoseconds() - record.error_ns.load());
    if (since < std::chrono::seconds(1)) return now + std::chrono::seconds(1) - since;
  }
  const bool periodic = target.trigger == DrainTrigger::Periodic;
  const auto patience = periodic ? core_.settings.drain.period : core_.settings.drain.delay;
  const Ripeness ripeness{.asked_only = target.paused || (!periodic && target.trigger != DrainTrigger::Write),
                          .at_once = !periodic,
                          .released = target.released || wanted,
                          .pressed = pressed,
                          .patience_ms = static_cast<std::uint32_t>(patience / std::chrono::milliseconds(1))};
  // Whatever there is, none of it goes: no need to look at every block each time one is written.
  if (ripeness.asked_only && !ripeness.released && !ripeness.pressed) return kNever;
  auto next = kNever;
  const auto again_in = [&](std::chrono::milliseconds wait) { next = std::min(next, now + wait); };
  const auto held = [&] {
    const std::scoped_lock lock(mutex_);
    return holds_.contains(file);
  };
  const auto ripe = ripe_blocks(unsaved_blocks(core_, file, 0, kMaxBlock), ripeness, again_in);
  auto shipment = std::make_shared<Shipment>();
  shipment->home = target.home;
  for (const auto& one : longest_reach_first(ripe, core_, file)) {
    const bool apart = !shipment->buckets.empty() && shipment->next_block != one.block;
    if (apart || shipment->bytes >= core_.settings.drain.write_size || shipment->runs.size() >= kMaxRuns) {
      ship_in_background(std::exchange(shipment, std::make_shared<Shipment>()));
      shipment->home = target.home;
      if (held()) break;
    }
    const auto claimed = drain_.claim(*shipment, one.block);
    if (!claimed ||
        (*claimed != Claim::kClaimed && *claimed != Claim::kNothing && *claimed != Claim::kDamaged)) {
      again_in(kMoment);
    }
  }
  if (!shipment->buckets.empty()) ship_in_background(shipment);
  // What was written meanwhile, or failed, is looked at when the shipments have landed.
  if (!ripe.empty()) again_in(kMoment);
  return next;
}

std::vector<UnsavedBlock> Drainer::ripe_blocks(
    const std::vector<UnsavedBlock>& blocks, const Ripeness& ripeness,
    const std::function<void(std::chrono::milliseconds)>& again_in) const {
  const std::uint64_t bucket_size = core_.bucket_size();
  const auto window_blocks = std::max<std::uint64_t>(kGoodWrite / bucket_size, 1);
  const auto now = core_.control.tick();
  const auto since = [now](std::uint32_t tick) { return ticks_since(tick, now); };
  std::vector<UnsavedBlock> ripe;
  for (auto first = blocks.begin(); first != blocks.end();) {
    const auto number = first->block / window_blocks;
    const auto last =
        std::find_if(first, blocks.end(), [&](const auto& b) { return b.block / window_blocks != number; });
    Window window{.quiet_ms = ~0u};
    for (auto it = first; it != last; ++it) {
      window.all_whole = window.all_whole && it->whole;
      window.oldest_ms = std::max(window.oldest_ms, since(it->since));
      window.quiet_ms = std::min(window.quiet_ms, since(it->used));
    }
    window.full = window.all_whole && static_cast<std::uint64_t>(last - first) == window_blocks;
    const auto verdict = ripeness.judge(window);
    if (verdict.ripe) ripe.insert(ripe.end(), first, last);
    if (!verdict.ripe && verdict.look_again_ms != kNoNeed)
      again_in(std::chrono::milliseconds(verdict.look_again_ms));
    first = last;
  }
  return ripe;
}

void Drainer::ship_in_background(const std::shared_ptr<Shipment>& shipment) {
  const auto file = shipment->home->file();
  const bool past = (core_.control.file(file).flags.load(std::memory_order_relaxed) & kFilePast) != 0;
  {
    std::unique_lock lock(mutex_);
    const auto crowded = [&] {
      return under_way_ >= crew_.limit() || (past && shipping_.count(file) >= kBesideOthers);
    };
    wake_.wait(lock, [&] { return stopping_ || holds_.contains(file) || !crowded(); });
    // What is left is for the last flush, which has a deadline, or for when the file is let go.
    if ((stopping_ && crowded()) || holds_.contains(file)) {
      lock.unlock();
      return drain_.give_back(*shipment);
    }
    ++under_way_;
    shipping_.insert(file);
  }
  const auto task = [this, shipment] {
    (void)drain_.ship(*shipment);
    const std::scoped_lock lock(mutex_);
    --under_way_;
    shipping_.erase(shipping_.find(shipment->home->file()));
    wake_.notify_all();
  };
  if (!crew_.post(task)) task();
}

bool Drainer::is_orphan(std::uint32_t file) {
  const auto& record = core_.control.file(file);
  if (!maybe_dirty(record) || core_.files.written_by_somebody(file) || is_scratch(record)) return false;
  return !unsaved_blocks(core_, file, 0, kMaxBlock).empty();
}

bool Drainer::any_orphan() {
  return std::ranges::any_of(core_.files.all(), [&](std::uint32_t file) { return is_orphan(file); });
}

std::size_t Drainer::adopt_orphans() {
  std::size_t adopted = 0;
  for (const auto file : core_.files.all()) {
    if (!is_orphan(file)) continue;
    {
      const std::scoped_lock lock(mutex_);
      if (targets_.contains(file)) continue;
      orphans_wait_ = released_ >= core_.settings.limits.descriptors;
      if (orphans_wait_) break;
    }
    auto home = HomeFile::reopen(core_, file);
    if (!home) {
      log_warn("unsaved bytes cannot go home yet: {}", home.error().message);
      auto& failed = core_.control.file(file);
      failed.error.store(static_cast<std::uint32_t>(home.error().code));
      failed.error_ns.store(core_.control.nanoseconds());
      continue;
    }
    auto settings = core_.settings.for_path((*home)->path());
    settings.drain_trigger = DrainTrigger::Write;
    add(std::move(*home), settings);
    release(file);
    ++adopted;
  }
  return adopted;
}

}  // namespace forebay
