// Durability `node`: what was written survives the loss of the node.
//
// The buffer itself does not (nothing in it can be trusted after power loss), so each process that writes
// such files logs its writes in a journal on a tier that keeps its content, and acknowledges after that.
// Order: stage, take a sequence number, append. A write that was acknowledged before another began has the
// smaller number; two at the same time have no order anyway. Once a file is home and synced, its records up
// to the number noted before that flush are forgotten. Thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "engine/core.hpp"
#include "engine/drainer.hpp"
#include "engine/home_file.hpp"
#include "tier/journal.hpp"
#include "tier/replay.hpp"

namespace forebay {

class NodeLog {
 public:
  NodeLog(Core& core, Drainer& drainer) : core_(core), drainer_(drainer) {}

  // Makes sure that writes of this file can be logged. EINVAL without a tier that keeps its content.
  Status add(const std::shared_ptr<HomeFile>& home);
  // Returns when staged bytes survive the loss of the node: logged, or home and synced when the log is full,
  // or has failed. Then every later write goes home and is marked there before it is acknowledged.
  Status append(const std::shared_ptr<HomeFile>& home, std::uint64_t offset, std::span<const std::byte> data);
  Status truncated(const std::shared_ptr<HomeFile>& home, std::uint64_t size);

  // Carries the file home, syncs it there and forgets its records. Success if it was never logged. `until` as
  // for Drainer::flush.
  Status bring_home(const std::shared_ptr<HomeFile>& home,
                    std::optional<Drainer::TimePoint> until = std::nullopt);

  // No process has the file open, and none can open it during the call. If all that was logged of it is home,
  // its place in the ledger becomes free.
  void closed(std::uint32_t file);

  // At detach, when everything is home: the journal goes.
  Status finish();

 private:
  struct Logged {
    JournalFile entry;
    // Not kept open: a descriptor that outlives its close keeps locks, and others from executing the file.
    std::weak_ptr<HomeFile> home;
    std::optional<std::uint32_t> records_home{};  // of all processes, when it was last brought home
  };
  [[nodiscard]] Result<JournalFile> entry_of(std::uint32_t file);
  // What the log has not taken, for the reason given, is made to last at home.
  Status without_log(const std::shared_ptr<HomeFile>& home, const Error& why);
  Status make_room();
  Status bring_home(std::uint32_t file, const std::shared_ptr<HomeFile>& home);

  Core& core_;
  Drainer& drainer_;
  std::atomic<bool> failed_ = false;  // the journal: it promises nothing any more
  std::mutex mutex_;
  std::unique_ptr<Journal> journal_;       // guarded by mutex_ until made; then constant
  std::map<std::uint32_t, Logged> files_;  // guarded by mutex_
};

// Do journals lie on the tiers of these resolved settings? There need not be a buffer.
[[nodiscard]] bool journals_left(const Settings& settings);

// After the loss of the node: carries home what the journals hold. The buffer must be new and empty.
Result<ReplayReport> replay_journals(Core& core);
// After files were drained whose writer is dead: their journals' records are home too.
void retire_journals(Core& core);

}  // namespace forebay
