// A thread that leaves the application's signals to the application: all of them are blocked in it from its
// start.
#pragma once

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

namespace forebay {

// Not joinable: the system has no thread for us (a limit of processes, or of memory).
template <class Body>
[[nodiscard]] std::thread quiet_thread(Body&& body) {
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
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace forebay
