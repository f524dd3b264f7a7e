// One line on a terminal that is drawn anew; nothing at all in a pipe.
#pragma once

#include <chrono>
#include <string>

namespace forebay::demo {

class Progress {
 public:
  // On standard error, if that is a terminal.
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(const std::string& what, unsigned done, unsigned all);
  void clear();

 private:
  const bool terminal_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::string shown_;
};

}  // namespace forebay::demo
