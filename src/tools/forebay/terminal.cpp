#include "tools/forebay/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace forebay {

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

Progress::Progress() : terminal_(is_terminal(STDERR_FILENO)) {}

void Progress::show(std::string_view line) {
  if (!terminal_) return;
  winsize size{};
  const std::size_t width =
      ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79;
  const auto text = "\r\033[K" + std::string(line.substr(0, std::min(line.size(), width)));
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  dirty_ = true;
}

void Progress::clear() {
  if (!dirty_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  dirty_ = false;
}

bool ask(const std::string& question) {
  std::fflush(stdout);
  std::fputs((question + " [y/N] ").c_str(), stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace forebay
