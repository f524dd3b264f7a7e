#include "tools/forebay/bench/watch.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "config/load.hpp"
#include "engine/status.hpp"
#include "tools/forebay/bench/child.hpp"

namespace forebay {
namespace {

constexpr double kBetweenSamples = 0.05;
constexpr double kPatience = 600;
constexpr std::size_t kMaxSamples = 4000;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

RoundWatch::RoundWatch(WatchOptions options) : options_(std::move(options)) {
  if (options_.control.empty()) return;
  auto loaded = load({.overrides = {"buffer.directory=" + options_.control}, .overrides_from = "benchmark"});
  if (!loaded) return;
  settings_ = std::move(*loaded);
  watches_buffer_ = true;
}

void RoundWatch::read_progress() {
  std::ifstream in(options_.progress_file);
  in.seekg(static_cast<std::streamoff>(read_));
  for (std::string line; std::getline(in, line) && !in.eof(); read_ += line.size() + 1) {
    std::istringstream words(line);
    std::string what;
    double value = 0;
    words >> what >> value;
    if (what == "began") began_at_ = value;
    if (what == "closed") {
      closed_at_ = std::max(closed_at_, value);
      ++closed_;
    }
    if (what == "done") options_.progress(value);
  }
}

bool RoundWatch::sample(double now, bool keep) {
  const auto names = buffer_names(settings_);
  FillSample found{.at = now - began_at_};
  for (const auto& name : names ? *names : std::vector<std::string>{}) {
    settings_.buffer.name = name;
    const auto status = look_at_buffer(settings_);
    if (!status) continue;
    found.tiers.resize(std::max(found.tiers.size(), status->tiers.size()));
    for (std::size_t i = 0; i < status->tiers.size(); ++i) {
      if (i == tiers_.size()) tiers_.push_back(status->tiers[i].name);
      found.tiers[i] += status->tiers[i].used;
      found.used += status->tiers[i].used;
    }
    found.unsaved += status->unsaved();
    if (status->totals) found.drained += status->totals->home_written_bytes;
  }
  const bool clean = found.unsaved == 0;
  if (keep && samples_.size() < kMaxSamples) samples_.push_back(std::move(found));
  return clean;
}

void RoundWatch::look() {
  read_progress();
  if (!watches_buffer_ || began_at_ == 0) return;
  const auto now = now_seconds();
  const bool waits = all_closed() && !clean_;
  const bool due = options_.samples && now >= next_sample_ && !clean_;
  if (!waits && !due) return;
  next_sample_ = now + kBetweenSamples;
  const bool all_home = sample(now, due);
  if (!waits) return;
  clean_ = all_home;
  // Clean when first looked at: it was so at the close, as far as can be seen.
  if (clean_ && looked_) home_at_ = now;
  looked_ = true;
}

bool RoundWatch::wait_until_home() {
  if (!watches_buffer_ || !all_closed()) return true;
  const auto deadline = now_seconds() + kPatience;
  for (look(); !clean_; look()) {
    if (now_seconds() > deadline || stop_signal() != 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace forebay
