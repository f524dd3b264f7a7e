// Running a program of the suite to its end, with somebody watching.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace forebay {

struct ChildEnd {
  int code = 0;              // exit status; 128 and the signal if one ended it
  bool interrupted = false;  // the suite was told to stop
  bool too_long = false;
  std::string said{};  // the end of what it wrote, both streams
};

// In a process group of its own, all of which is ended when the suite is interrupted or `limit` is over.
// `watch` is called about every 20 ms. What it says goes to the file `log`.
Result<ChildEnd> run_watched(const std::vector<std::string>& words, const std::vector<std::string>& variables,
                             const std::string& log, std::chrono::seconds limit,
                             const std::function<void()>& watch);

// SIGINT, SIGTERM and SIGHUP stop the suite in good order from here on: children are ended, results are kept.
void stop_on_signals();
// The signal that came, or 0.
int stop_signal();

}  // namespace forebay
