// Steps of one piece of work, done by the caller and by whoever of a crew has time.
//
// The caller takes part and returns when every step that was begun has ended, so that no step outlives what
// it works on. A helper that comes late finds nothing left and touches nothing but the list. Steps after one
// that failed are not begun, and its error is the answer.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "engine/crew.hpp"

namespace forebay {

class SideBySide {
 public:
  // `step(i)` for each i below `count`, in any order and from several threads.
  static Status run(std::size_t count, Crew& crew, std::size_t helpers,
                    std::function<Status(std::size_t)> step) {
    const std::shared_ptr<SideBySide> work(new SideBySide(count, std::move(step)));
    for (std::size_t i = 0; i < helpers && i + 1 < count; ++i) {
      if (!crew.post([work] { work->take_part(); })) break;
    }
    work->take_part();
    std::unique_lock lock(work->mutex_);
    work->changed_.wait(lock, [&] { return work->under_way_ == 0; });
    return work->result_;
  }

 private:
  SideBySide(std::size_t count, std::function<Status(std::size_t)> step)
      : count_(count), step_(std::move(step)) {}

  void take_part() {
    std::unique_lock lock(mutex_);
    while (next_ != count_) {
      const auto mine = next_++;
      ++under_way_;
      lock.unlock();
      const auto status = step_(mine);
      lock.lock();
      if (!status) {
        if (result_) result_ = status;
        next_ = count_;
      }
      if (--under_way_ == 0) changed_.notify_all();
    }
  }

  const std::size_t count_;
  const std::function<Status(std::size_t)> step_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;       // guarded by mutex_
  std::size_t under_way_ = 0;  // guarded by mutex_
  Status result_;              // guarded by mutex_
};

}  // namespace forebay
