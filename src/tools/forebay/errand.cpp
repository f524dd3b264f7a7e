#include "tools/forebay/errand.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/terminal.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGlance = std::chrono::milliseconds(200);

std::string progress_line(std::uint64_t left, std::uint64_t first, Clock::duration elapsed) {
  const auto seconds = std::chrono::duration<double>(elapsed).count();
  const auto gone = first - std::min(first, left);
  const auto rate = seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(gone) / seconds) : 0;
  auto line = format_text("{} of {} left", format_bytes(left), format_bytes(first));
  if (rate > 0) {
    const std::chrono::duration<double> rest(static_cast<double>(left) / static_cast<double>(rate));
    line += format_text(", {}/s, about {}", format_bytes(rate),
                        format_duration(std::chrono::duration_cast<std::chrono::seconds>(rest)));
  }
  return line;
}

}  // namespace

Result<Errand> Errand::join(const Settings& settings, std::chrono::nanoseconds timeout) {
  FOREBAY_ASSIGN(auto before, look_at_buffer(settings));
  FOREBAY_ASSIGN(auto buffer, Buffer::attach(settings, {.create = false, .background = false}));
  const auto patience = std::min(timeout, buffer->core().settings.limits.home_wait);
  const bool answered = buffer->put_right(Clock::now() + patience);
  Errand errand(settings, std::move(before), std::move(buffer));
  errand.stuck_ = !answered;
  return errand;
}

std::vector<Carrier::Outcome> Errand::carry(const std::vector<std::uint32_t>& files,
                                            std::chrono::nanoseconds timeout) {
  if (stuck_) {
    std::vector<Carrier::Outcome> none;
    for (const auto file : files) none.push_back({file, std::nullopt});
    return none;
  }
  const auto begin = Clock::now();
  const auto deadline = begin + timeout;
  const auto patience = buffer_->core().settings.limits.home_wait;
  auto carrier = std::make_unique<Carrier>(buffer_->core());
  carrier->start(files, deadline);
  Progress progress;
  std::uint64_t first = 0;
  std::uint64_t moved = 0;
  auto last_move = begin;
  auto pause = std::chrono::nanoseconds(kGlance);
  while (!carrier->finished(Clock::now() + pause)) {
    const auto looking = Clock::now();
    if (const auto status = look(); status && status->totals) {
      const auto now_moved = status->totals->home_written_bytes.load();
      if (now_moved != moved) last_move = looking;
      moved = now_moved;
      first = std::max(first, status->unsaved());
      progress.show(progress_line(status->unsaved(), first, looking - begin));
    }
    if (looking - last_move > patience || looking > deadline + patience) {
      stuck_ = true;
      auto outcomes = carrier->outcomes();
      (void)carrier.release();  // its threads are in calls that do not return; end_now() ends the process
      return outcomes;
    }
    // Looking must not cost more than a tenth of the time.
    pause = std::max<std::chrono::nanoseconds>(kGlance, 10 * (Clock::now() - looking));
  }
  return carrier->outcomes();
}

Errand::~Errand() {
  if (stuck_) (void)buffer_.release();
}

bool go_into_background() {
  const auto pid = ::fork();
  if (pid != 0) return false;
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  return true;
}

void end_now(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

std::vector<std::uint32_t> files_to_carry(const BufferStatus& status, bool only_orphans) {
  std::vector<std::uint32_t> files;
  for (const auto& file : status.files) {
    if (file.scratch || (file.unsaved == 0 && file.damaged == 0)) continue;
    if (only_orphans && file.carried) continue;
    files.push_back(file.number);
  }
  return files;
}

}  // namespace forebay
