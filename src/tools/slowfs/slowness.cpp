#include "tools/slowfs/slowness.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay::slowfs {
namespace {

// How long a request may go on waiting after it was abandoned.
constexpr std::chrono::milliseconds kPatience{50};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

Slowness::Slowness(const Settings& settings)
    : settings_(settings),
      read_line_(settings.read_bandwidth, Clock::now()),
      write_line_(settings.write_bandwidth, Clock::now()) {}

Settings Slowness::settings() const {
  const std::scoped_lock lock(mutex_);
  return settings_;
}

Status Slowness::configure(std::string_view lines, Statistics& statistics) {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  Settings wanted = settings_;
  bool reset = false;
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    const auto line = trim(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.empty()) continue;
    if (line == "reset_stats") {
      reset = true;
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      return fail(EINVAL, "'" + std::string(line) + "' is neither key=value nor reset_stats");
    }
    FOREBAY_TRY(apply(wanted, trim(line.substr(0, equals)), trim(line.substr(equals + 1)), now));
  }
  settings_ = wanted;
  read_line_.set_rate(wanted.read_bandwidth, now);
  write_line_.set_rate(wanted.write_bandwidth, now);
  if (reset) statistics.reset();
  changed_.notify_all();
  return {};
}

bool Slowness::hangs(Kind kind) const {
  const bool concerned = settings_.hang == HangScope::All || (settings_.hang == HangScope::Writes &&
                                                              (kind == Kind::Write || kind == Kind::Fsync));
  return concerned && Clock::now() < settings_.hang_until;
}

int Slowness::fault(Kind kind, bool changes) {
  if (changes && settings_.read_only) return EROFS;
  switch (kind) {
    case Kind::Read:
      return settings_.fail_read;
    case Kind::Write:
      if (settings_.writes_until_failure > 0) {
        --settings_.writes_until_failure;
        if (settings_.writes_until_failure == 0) return settings_.fail_nth_write;
      }
      return settings_.fail_write;
    case Kind::Fsync:
      return settings_.fail_fsync;
    case Kind::Open:
      return settings_.fail_open;
    case Kind::Close:
      return settings_.fail_close;
    default:
      return 0;
  }
}

bool Slowness::wait(std::unique_lock<std::mutex>& lock, Clock::time_point due, const Abandoned& abandoned) {
  changed_.wait_until(lock, std::min(due, Clock::now() + kPatience));
  return !abandoned();
}

int Slowness::admit(Kind kind, bool changes, const Abandoned& abandoned) {
  std::unique_lock lock(mutex_);
  while (hangs(kind)) {
    if (!wait(lock, settings_.hang_until, abandoned)) return EINTR;
  }
  return fault(kind, changes);
}

void Slowness::pace(Kind kind, uint64_t bytes, Clock::time_point arrival, const Abandoned& abandoned) {
  std::unique_lock lock(mutex_);
  const bool queues = bytes > 0 && (kind == Kind::Read || kind == Kind::Write);
  RateLimiter& line = kind == Kind::Read ? read_line_ : write_line_;
  const auto ticket = queues ? line.reserve(bytes, arrival) : RateLimiter::Ticket{};
  auto carried_at = arrival;
  for (bool carried = !queues;;) {
    const auto now = Clock::now();
    if (!carried) {
      const auto remaining = line.remaining(ticket, now);
      carried = remaining == Clock::duration{};
      // Earlier than foretold if the rate was raised.
      carried_at = carried ? std::min(carried_at, now) : now + remaining;
    }
    // One sleep for both: the latency follows the moment the bytes are through, not a moment at which this
    // thread wakes up.
    const auto due = carried_at + settings_.latency;
    if (carried && now >= due) return;
    if (!wait(lock, due, abandoned)) return;
  }
}

}  // namespace forebay::slowfs
