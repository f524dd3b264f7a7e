// The drainer on behalf of those who wait until bytes are home.
#include <algorithm>
#include <cerrno>
#include <set>

#include "base/format.hpp"
#include "engine/drainer.hpp"
#include "engine/home_order.hpp"
#include "engine/truncate.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;

Status too_long(const std::string& path) {
  return fail(ETIMEDOUT,
              "home does not answer: writing " + path + " has taken too long; the bytes stay in the buffer");
}

// Waits for a set of shipments in other hands.
class Gathering {
 public:
  explicit Gathering(unsigned limit) : limit_(limit) {}
  // False when there was no place for one more until the wait was over.
  bool begin(HomeWait& wait) {
    std::unique_lock lock(mutex_);
    if (!until(lock, wait, [&] { return open_ < limit_; })) return false;
    ++open_;
    return true;
  }
  void end(const Status& status) {
    const std::scoped_lock lock(mutex_);
    --open_;
    if (!status && result_) result_ = status;
    changed_.notify_all();
  }
  // What has not ended by then goes on; its error sticks to the file.
  Status end(HomeWait& wait, const std::string& path) {
    std::unique_lock lock(mutex_);
    if (!until(lock, wait, [&] { return open_ == 0; })) return too_long(path);
    return result_;
  }

 private:
  template <class Condition>
  bool until(std::unique_lock<std::mutex>& lock, HomeWait& wait, Condition&& holds) {
    while (!holds()) {
      if (wait.over()) return false;
      changed_.wait_until(lock, wait.look_again());
    }
    return true;
  }

  const unsigned limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned open_ = 0;
  Status result_;
};

}  // namespace

Status Drainer::flush_once(const std::shared_ptr<HomeFile>& home, const std::vector<UnsavedBlock>& blocks,
                           std::vector<std::uint64_t>& busy, HomeWait& wait) {
  auto gathering = std::make_shared<Gathering>(2 * crew_.limit());
  Status result;
  const auto dispatch = [&](const std::shared_ptr<Shipment>& shipment) {
    if (!gathering->begin(wait)) {
      drain_.give_back(*shipment);
      result = too_long(home->path());
      return false;
    }
    const auto task = [this, shipment, gathering] { gathering->end(drain_.ship(*shipment)); };
    if (!crew_.post(task)) task();
    return true;
  };
  const auto fresh = [&] {
    auto shipment = std::make_shared<Shipment>();
    shipment->home = home;
    return shipment;
  };
  auto shipment = fresh();
  for (const auto& one : longest_reach_first(blocks, core_, home->file())) {
    const auto block = one.block;
    const bool apart = !shipment->buckets.empty() && shipment->next_block != block;
    if (apart || shipment->bytes >= core_.settings.drain.write_size || shipment->runs.size() >= kMaxRuns) {
      if (!dispatch(std::exchange(shipment, fresh()))) break;
    }
    const auto claimed = drain_.claim(*shipment, block);
    if (!claimed) {
      result = std::unexpected(claimed.error());
      break;
    }
    if (*claimed == Claim::kBusy || *claimed == Claim::kStepBack) busy.push_back(block);
    if (*claimed == Claim::kDamaged) {
      result = fail(EIO, format_text("block {} of {} was damaged in the buffer and cannot be written home",
                                     block, home->path()));
    }
  }
  if (!shipment->buckets.empty()) dispatch(shipment);
  const auto shipped = gathering->end(wait, home->path());
  return result ? shipped : result;
}

Status Drainer::flush(const std::shared_ptr<HomeFile>& home, std::uint64_t first, std::uint64_t last,
                      std::optional<TimePoint> until) {
  const auto began = core_.control.nanoseconds();
  HomeWait wait(core_, home->file(), until);
  auto status = flush_within(home, first, last, wait);
  const bool silent = !status && status.error().code == ETIMEDOUT && !until;
  if (silent && !core_.files.held_by_others(home->file())) drain_.note_silence(home->file());
  count(core_.counters().home_wait_ns, core_.control.nanoseconds() - began);
  return status;
}

Status Drainer::flush_within(const std::shared_ptr<HomeFile>& home, std::uint64_t first, std::uint64_t last,
                             HomeWait& wait) {
  std::vector<std::uint64_t> busy;
  FOREBAY_TRY(flush_once(home, unsaved_blocks(core_, home->file(), first, last), busy, wait));
  // Claims of others: when they are through, what was written after them is claimed here. Each block needs
  // one more claim of our own at most, so that a bucket that is written all the time does not hold us.
  while (!busy.empty()) {
    std::vector<UnsavedBlock> again;
    // Claims step back from a truncation; whoever began it may be dead.
    if (core_.control.file(home->file()).intent.load() != 0) {
      FOREBAY_TRY(help_truncation(core_, drain_, home->file(), home.get()));
    }
    for (const auto block : busy) {
      FOREBAY_TRY(drain_.wait_for_claim(home->file(), block, wait));
      again.push_back({block, false, 0, 0});
    }
    busy.clear();
    FOREBAY_TRY(flush_once(home, again, busy, wait));
    if (!busy.empty() && wait.over()) {
      return fail(ETIMEDOUT, "home does not answer: " + home->path() + " is still being written");
    }
    if (!busy.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

// Those that go home at all.
std::vector<std::shared_ptr<HomeFile>> Drainer::homes(std::optional<OnClose> only) {
  std::vector<std::shared_ptr<HomeFile>> homes;
  const std::scoped_lock lock(mutex_);
  for (const auto& [file, target] : targets_) {
    if (only && target.on_close != *only) continue;
    if (!is_scratch(core_.control.file(file))) homes.push_back(target.home);
  }
  return homes;
}

bool Drainer::any_unsaved(OnClose of) {
  return std::ranges::any_of(homes(of), [&](const std::shared_ptr<HomeFile>& home) {
    return home->known(core_.files) && !unsaved_blocks(core_, home->file(), 0, kMaxBlock).empty();
  });
}

Status Drainer::flush_all(std::optional<TimePoint> until, std::optional<OnClose> only) {
  Status result;
  std::set<std::uint64_t> silent;
  for (const auto& home : homes(only)) {
    const auto device = core_.control.file(home->file()).device;
    if (!until && silent.contains(device)) continue;
    auto status = flush(home, 0, kMaxBlock, until);
    if (!status && status.error().code == ETIMEDOUT) silent.insert(device);
    if (!status && result) result = status;
  }
  return result;
}

}  // namespace forebay
