// A few threads that do plain file work for the engine: never HDF5, never MPI.
//
// Threads start when there is work for them, up to the limit, and sleep without a timeout when there is none.
// Tasks of the front queue go before those of the back queue. After a fork the child has none of this and
// must not touch it.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace forebay {

class Crew {
 public:
  explicit Crew(unsigned limit) : limit_(limit) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() { stop(); }

  enum class Urgency { kFront, kBack };
  // False when the crew has stopped, or the system has no thread for it: the caller does the work itself or
  // leaves it.
  bool post(std::function<void()> task, Urgency urgency = Urgency::kFront);
  // Runs what is queued, then ends the threads. False: some were still at it by `until`. They go on by
  // themselves, and what they use must be kept for them, this object too.
  bool stop(std::optional<std::chrono::steady_clock::time_point> until = std::nullopt);
  [[nodiscard]] unsigned limit() const { return limit_; }

 private:
  void run();

  const unsigned limit_;
  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  std::deque<std::function<void()>> front_, back_;  // guarded by mutex_
  std::vector<std::thread> threads_;                // guarded by mutex_
  unsigned idle_ = 0;                               // guarded by mutex_
  unsigned running_ = 0;                            // guarded by mutex_: threads
  bool stopping_ = false;                           // guarded by mutex_
};

}  // namespace forebay
