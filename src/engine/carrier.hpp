// Carries home the unsaved bytes of given files, several at a time: for a peer that has come to tidy up.
//
// Any attached process may carry any file home; what others are carrying is waited for. Killed at any moment,
// it leaves what any killed process leaves.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/core.hpp"
#include "engine/crew.hpp"
#include "engine/drainer.hpp"

namespace forebay {

class Carrier {
 public:
  explicit Carrier(Core& core);
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  // Waits for what is under way: see finished().
  ~Carrier();

  // Begins, and returns at once (or, where the system has no thread for it, when all is done). Once only.
  // Nothing new is sent home after the deadline.
  void start(const std::vector<std::uint32_t>& files, Drainer::TimePoint deadline);

  // Waits; true when every file has its outcome. Still false some time after the deadline: home does not
  // answer a call, and the destructor would not return.
  bool finished(Drainer::TimePoint until);

  struct Outcome {
    std::uint32_t file;
    // Home and synced there; or why not. ESTALE: another file or none lies at its path. EBADMSG: its record
    // is damaged. None: not through yet.
    std::optional<Status> status;
  };
  [[nodiscard]] std::vector<Outcome> outcomes();

 private:
  void work(Drainer::TimePoint deadline);
  Status carry(std::uint32_t file, Drainer::TimePoint deadline);

  Core& core_;
  Crew crew_;
  Drainer drainer_;
  Drain drain_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Outcome> outcomes_;  // guarded by mutex_
  std::size_t next_ = 0;           // guarded by mutex_
  std::size_t through_ = 0;        // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace forebay
