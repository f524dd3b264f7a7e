// Watching a round from outside: how far the kernel is, how full the buffer is, and when the last byte is
// home.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "tools/forebay/bench/round.hpp"

namespace forebay {

struct WatchOptions {
  std::string progress_file;
  std::string control;  // the directory of the round's own buffer; empty: it has none
  unsigned ranks = 1;
  bool samples = false;  // are to be kept
  std::function<void(double)> progress = [](double) {};
};

class RoundWatch {
 public:
  explicit RoundWatch(WatchOptions options);

  // To be called often.
  void look();
  // Until the buffer is clean, within reason: false if it never is.
  bool wait_until_home();

  // Seconds from the last close of all ranks until the bytes were home; seen at intervals of 20 ms.
  [[nodiscard]] double tail() const { return home_at_ == 0 ? 0 : home_at_ - closed_at_; }
  // Seconds from the beginning until that close; 0 until all ranks have told of theirs.
  [[nodiscard]] double closed() const { return all_closed() ? closed_at_ - began_at_ : 0; }
  [[nodiscard]] std::vector<FillSample> samples() { return std::move(samples_); }
  [[nodiscard]] const std::vector<std::string>& tiers() const { return tiers_; }

 private:
  [[nodiscard]] bool all_closed() const { return closed_ >= options_.ranks; }
  void read_progress();
  [[nodiscard]] bool sample(double now, bool keep);  // true: nothing is unsaved

  WatchOptions options_;
  Settings settings_{};
  bool watches_buffer_ = false;
  std::size_t read_ = 0;  // bytes of the progress file
  double began_at_ = 0;
  double closed_at_ = 0;  // of the rank that was the last until now
  unsigned closed_ = 0;   // ranks
  double home_at_ = 0;    // 0: not yet, or at once
  bool clean_ = false;    // after the last close
  bool looked_ = false;
  double next_sample_ = 0;
  std::vector<FillSample> samples_;
  std::vector<std::string> tiers_;
};

}  // namespace forebay
