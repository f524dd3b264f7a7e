#include "engine/crew.hpp"

#include <unistd.h>

#include "os/quiet_thread.hpp"

namespace forebay {

bool Crew::post(std::function<void()> task, Urgency urgency) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) return false;
  auto& queue = urgency == Urgency::kFront ? front_ : back_;
  queue.push_back(std::move(task));
  // The child of a vfork has its parent's memory: a thread of its own would end with its exec, and be waited
  // for here.
  const bool ours = ::getpid() == process_;
  if (!ours && threads_.empty()) {
    queue.pop_back();
    return false;
  }
  if (ours && idle_ < front_.size() + back_.size() && threads_.size() < limit_) {
    if (auto thread = quiet_thread([this] { run(); }); thread.joinable()) {
      threads_.push_back(std::move(thread));
      ++running_;
      return true;
    }
    if (threads_.empty()) {
      queue.pop_back();
      return false;
    }
  }
  wake_.notify_one();
  return true;
}

bool Crew::stop(std::optional<std::chrono::steady_clock::time_point> until) {
  std::vector<std::thread> threads;
  bool all = true;
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
    if (until) all = ended_.wait_until(lock, *until, [&] { return running_ == 0; });
    threads.swap(threads_);
  }
  for (auto& thread : threads) all ? thread.join() : thread.detach();
  return all;
}

void Crew::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [&] { return stopping_ || !front_.empty() || !back_.empty(); });
    --idle_;
    auto& queue = front_.empty() ? back_ : front_;
    if (queue.empty()) {
      --running_;
      ended_.notify_all();
      return;
    }
    auto task = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace forebay
