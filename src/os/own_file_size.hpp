// A process's limit on the size of files (RLIMIT_FSIZE) is meant for the files of its program. While one of
// these lives, what this thread writes beyond it fails with EFBIG and raises no SIGXFSZ.
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <ctime>

namespace forebay {

// All ones: there is none.
[[nodiscard]] inline std::uint64_t own_file_size_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                                   : ~std::uint64_t{0};
}

class OwnFileSize {
 public:
  OwnFileSize() {
    if (own_file_size_limit() == ~std::uint64_t{0}) return;
    sigset_t pending;
    sigpending(&pending);
    // One that came before is the program's.
    if (sigismember(&pending, SIGXFSZ) == 1) return;
    sigemptyset(&one_);
    sigaddset(&one_, SIGXFSZ);
    blocks_ = pthread_sigmask(SIG_BLOCK, &one_, &before_) == 0;
  }
  OwnFileSize(const OwnFileSize&) = delete;
  OwnFileSize& operator=(const OwnFileSize&) = delete;
  ~OwnFileSize() {
    if (!blocks_) return;
    const timespec at_once{};
    while (sigtimedwait(&one_, nullptr, &at_once) == SIGXFSZ) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  bool blocks_ = false;
  sigset_t one_{};
  sigset_t before_{};
};

}  // namespace forebay
