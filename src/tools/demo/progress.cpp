#include "tools/demo/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "base/format.hpp"

namespace forebay::demo {
namespace {

constexpr unsigned kWidth = 30;

}  // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(const std::string& what, unsigned done, unsigned all) {
  if (!terminal_) return;
  const unsigned filled = all == 0 ? 0 : done * kWidth / all;
  const auto elapsed = std::chrono::steady_clock::now() - since_;
  auto line = format_text("{:<16}[{}{}] {:>3}/{} {:3d} s", what, std::string(filled, '#'),
                          std::string(kWidth - filled, '.'), done, all,
                          std::chrono::duration_cast<std::chrono::seconds>(elapsed).count());
  if (line == shown_) return;
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
  shown_ = std::move(line);
}

void Progress::clear() {
  if (shown_.empty()) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_.clear();
}

}  // namespace forebay::demo
