// Watching a round from outside: how far the kernel is, how full the buffer is, and when the last byte is
// home.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "tools/forebay/bench/round.hpp"

namespace forebay {

class RoundWatch {
 public:
  // `control`: the directory of the round's own buffer; empty: it has none. Samples are kept with `samples`.
  RoundWatch(std::string progress_file, const std::string& control, bool samples,
             std::function<void(double)> progress);

  // To be called often.
  void look();
  // Until the buffer is clean, within reason: false if it never is.
  bool wait_until_home();

  // Seconds from the last close until the bytes were home; seen at intervals of 20 ms.
  [[nodiscard]] double tail() const { return home_at_ == 0 ? 0 : home_at_ - closed_at_; }
  [[nodiscard]] std::vector<FillSample> samples() { return std::move(samples_); }

 private:
  void read_progress();
  [[nodiscard]] bool sample(double now, bool keep);  // true: nothing is unsaved

  std::string progress_file_;
  std::function<void(double)> progress_;
  Settings settings_{};
  bool watches_buffer_ = false;
  bool keeps_samples_;
  std::size_t read_ = 0;  // bytes of the progress file
  double began_at_ = 0;
  double closed_at_ = 0;
  double home_at_ = 0;  // 0: not yet, or at once
  bool clean_ = false;  // after the last close
  bool looked_ = false;
  double next_sample_ = 0;
  std::vector<FillSample> samples_;
};

}  // namespace forebay
