#include "tools/forebay/run/buffer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "engine/attach.hpp"
#include "engine/node_log.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/errand.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::hours kLong{24};
constexpr std::chrono::milliseconds kPause{50};
// Whoever was killed is gone when the system comes to it, which takes a while on a busy machine.
constexpr std::chrono::seconds kDying{2};

bool usable(const Result<BufferStatus>& status) {
  return status && status->finding == ControlFinding::kUsable;
}

Counted counted_of(const Settings& settings) {
  Counted counted;
  if (auto status = look_at_buffer(settings); usable(status)) {
    counted.counters = std::move(status->totals);
    counted.passed = std::move(status->passed);
  }
  return counted;
}

// Carries home what is unsaved; with `only_orphans` what no living process carries. Nothing: there is
// nothing, or no buffer.
std::optional<Leftover> carry_home(const Settings& settings, bool only_orphans) {
  if (const auto before = look_at_buffer(settings);
      !usable(before) || files_to_carry(*before, only_orphans).empty())
    return std::nullopt;
  Leftover found{.buffer = settings.buffer.name};
  auto errand = Errand::join(settings, settings.limits.home_wait);
  if (!errand) {
    found.why = errand.error().message;
    return found;
  }
  const auto status = errand->look();
  if (!status) return std::nullopt;
  const auto files = files_to_carry(*status, only_orphans);
  found.files = files.size();
  found.carried = status->unsaved();
  for (const auto& outcome : errand->carry(files, kLong)) {
    if (!outcome.status) found.why = "home does not answer";
    if (outcome.status && !*outcome.status) found.why = outcome.status->error().message;
  }
  if (!errand->stuck()) retire_journals(errand->buffer().core());
  if (const auto after = errand->look()) {
    found.left = after->unsaved();
    found.carried -= std::min(found.carried, found.left);
  }
  return found;
}

// The command of a run that was killed ends with it, but not at once: what it has unsaved is nobody else's
// yet. Others that it started may live on, and are not waited for longer than that.
void let_the_killed_go(const Settings& settings) {
  for (const auto until = Clock::now() + kDying; Clock::now() < until; std::this_thread::sleep_for(kPause)) {
    const auto status = look_at_buffer(settings);
    if (!usable(status) || status->unsaved() == 0 || !status->anybody_alive()) return;
  }
}

// True when it is gone.
bool remove_clean_buffer(const Settings& settings) {
  const auto status = look_at_buffer(settings);
  if (!status) return status.error().code == ENOENT;
  if (!usable(status) || status->unsaved() != 0 || status->anybody_alive()) return false;
  const auto removed = remove_buffer(settings, false);
  return removed || removed.error().code == ENOENT;
}

}  // namespace

Result<RunBuffer> RunBuffer::join(const Settings& settings, bool kept) {
  if (kept) return RunBuffer(settings, std::nullopt);
  FOREBAY_ASSIGN(auto lock,
                 RunLock::join(settings.buffer.directory, settings.buffer.name, settings.limits.home_wait));
  return RunBuffer(settings, std::move(lock));
}

std::vector<Leftover> RunBuffer::recover_leftovers() {
  std::vector<Leftover> all;
  if (auto own = carry_home(settings_, true)) all.push_back(std::move(*own));
  if (!lock_) before_ = counted_of(settings_);
  if (lock_ && lock_->first()) lock_->keep(counted_of(settings_).text());
  for (const auto& name : marked_by_runs(settings_.buffer.directory)) {
    if (name == settings_.buffer.name) continue;
    auto abandoned = RunLock::take_abandoned(settings_.buffer.directory, name);
    if (!abandoned) continue;
    auto settings = settings_;
    settings.buffer.name = name;
    let_the_killed_go(settings);
    if (auto found = carry_home(settings, true)) all.push_back(std::move(*found));
    if (remove_clean_buffer(settings)) abandoned->remove();
  }
  recover_of_other_nodes(all);
  return all;
}

// `forebay run mpiexec` holds its lock where it runs. On other nodes nobody is there to clear up behind the
// ranks: the first run that comes does.
void RunBuffer::recover_of_other_nodes(std::vector<Leftover>& all) const {
  const auto marked = marked_by_runs(settings_.buffer.directory);
  const auto names = buffer_names(settings_);
  if (!names) return;
  for (const auto& name : *names) {
    if (!is_name_of_run(name) || name == settings_.buffer.name || std::ranges::contains(marked, name))
      continue;
    auto settings = settings_;
    settings.buffer.name = name;
    if (const auto status = look_at_buffer(settings); !usable(status) || status->anybody_alive()) continue;
    if (auto found = carry_home(settings, true)) all.push_back(std::move(*found));
    (void)remove_clean_buffer(settings);
  }
}

// Whatever the command closed without waiting goes home without us.
bool RunBuffer::goes_on_without_us() const {
  if (settings_.file_defaults.on_close == OnClose::Detach) return true;
  return std::ranges::any_of(settings_.rules, [](const FileRule& rule) {
    return std::ranges::contains(rule.given, "on_close") && rule.values.on_close == OnClose::Detach;
  });
}

bool RunBuffer::remove_if_clean() { return lock_ && remove_clean_buffer(settings_) && forget(); }

bool RunBuffer::forget() {
  // Of one that could not be made, as with a tier that is not there, a folder is left.
  const auto folder = settings_.buffer.directory + "/" + settings_.buffer.name;
  if (::access(folder.c_str(), F_OK) == 0) (void)remove_buffer(settings_, false);
  lock_->remove();
  return true;
}

Ending RunBuffer::end() {
  Ending ending;
  const bool last = !lock_ || lock_->become_the_last();
  ending.reports = last;
  ending.before = lock_ ? Counted::parse(lock_->kept()) : std::move(before_);
  if (lock_ && last) ending.unseen = lock_->notes();
  auto status = look_at_buffer(settings_);
  if (!status && status.error().code == ENOENT) {  // nobody has used it
    if (last && lock_) ending.removed = forget();
    return ending;
  }
  if (usable(status) && status->unsaved() != 0 && goes_on_without_us()) {
    ending.status = std::move(*status);
    ending.detached = last;
    return ending;
  }
  // Where others go on, what is unsaved of theirs is their own affair.
  if (const auto carried = carry_home(settings_, !last || !lock_); carried && !carried->why.empty())
    ending.trouble = carried->why;
  if (auto after = look_at_buffer(settings_)) ending.status = std::move(*after);
  if (last) ending.removed = remove_if_clean();
  ending.removed_later = last && lock_ && !ending.removed && goes_on_without_us() && usable(status);
  return ending;
}

void RunBuffer::end_detached() {
  (void)carry_home(settings_, false);
  // Those who left before carry home in the background too (engine/handover.hpp).
  for (const auto until = Clock::now() + settings_.limits.home_wait; Clock::now() < until;) {
    if (remove_if_clean()) return;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace forebay
