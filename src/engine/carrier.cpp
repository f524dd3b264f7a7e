#include "engine/carrier.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/home_file.hpp"
#include "engine/truncate.hpp"
#include "os/quiet_thread.hpp"

namespace forebay {

Carrier::Carrier(Core& core)
    : core_(core), crew_(core.settings.drain.in_flight), drainer_(core, crew_), drain_(core) {}

Carrier::~Carrier() {
  for (auto& thread : threads_) thread.join();
}

void Carrier::start(const std::vector<std::uint32_t>& files, Drainer::TimePoint deadline) {
  for (const auto file : files) outcomes_.push_back({file, std::nullopt});
  const auto count = std::min<std::size_t>(files.size(), crew_.limit());
  for (std::size_t i = 0; i < count; ++i) {
    if (auto thread = quiet_thread([this, deadline] { work(deadline); }); thread.joinable())
      threads_.push_back(std::move(thread));
  }
  if (threads_.empty()) work(deadline);
}

void Carrier::work(Drainer::TimePoint deadline) {
  std::unique_lock lock(mutex_);
  while (next_ < outcomes_.size()) {
    const auto at = next_++;
    lock.unlock();
    auto status = carry(outcomes_[at].file, deadline);
    lock.lock();
    outcomes_[at].status = std::move(status);
    ++through_;
    changed_.notify_all();
  }
}

Status Carrier::carry(std::uint32_t file, Drainer::TimePoint deadline) {
  auto& record = core_.control.file(file);
  const auto home = HomeFile::reopen(core_, file);
  if (!home) {
    record.error.store(static_cast<std::uint32_t>(home.error().code));
    record.error_ns.store(core_.control.nanoseconds());
    return std::unexpected(home.error());
  }
  if (record.intent.load() != 0) FOREBAY_TRY(help_truncation(core_, drain_, file, home->get()));
  FOREBAY_TRY(drainer_.flush(*home, 0, kMaxBlock, deadline));
  drop_if_closed(core_, file);
  if (::fsync((*home)->fd()) != 0) return fail_errno(errno, "sync", (*home)->path());
  return {};
}

bool Carrier::finished(Drainer::TimePoint until) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, until, [&] { return through_ == outcomes_.size(); });
}

std::vector<Carrier::Outcome> Carrier::outcomes() {
  const std::scoped_lock lock(mutex_);
  return outcomes_;
}

}  // namespace forebay
