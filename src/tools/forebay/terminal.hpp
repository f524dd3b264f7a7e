// What is different when a person watches.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace forebay {

[[nodiscard]] bool is_terminal(int fd);

// One line on standard error that is written over and over, and is gone at the end; nothing at all unless
// standard error is a terminal.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  [[nodiscard]] bool shown() const { return terminal_; }
  void show(std::string_view line);
  void clear();

 private:
  bool terminal_;
  bool dirty_ = false;
};

// Asks on the terminal; true for "y" and "yes". Must not be called without one.
[[nodiscard]] bool ask(const std::string& question);

}  // namespace forebay
