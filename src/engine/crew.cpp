#include "engine/crew.hpp"

#include <pthread.h>

#include <csignal>

namespace forebay {

bool Crew::post(std::function<void()> task, Urgency urgency) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) return false;
  (urgency == Urgency::kFront ? front_ : back_).push_back(std::move(task));
  if (idle_ < front_.size() + back_.size() && threads_.size() < limit_) {
    // The application's signals are the application's business.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    threads_.emplace_back([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  } else {
    wake_.notify_one();
  }
  return true;
}

void Crew::stop() {
  std::vector<std::thread> threads;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (auto& thread : threads) thread.join();
}

void Crew::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [&] { return stopping_ || !front_.empty() || !back_.empty(); });
    --idle_;
    auto& queue = front_.empty() ? back_ : front_;
    if (queue.empty()) return;
    auto task = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace forebay
