// A thread that leaves the application's signals to the application: all of them are blocked in it from its
// start.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace forebay {

template <class Body>
std::thread quiet_thread(Body&& body) {
  class Blocked {
   public:
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

   private:
    sigset_t before_;
  };
  const Blocked blocked;
  return std::thread(std::forward<Body>(body));
}

}  // namespace forebay
