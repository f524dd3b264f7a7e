#include "tools/forebay/run/process.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/format.hpp"

namespace forebay {
namespace {

constexpr int kMostGenerations = 1000;

}  // namespace

std::string text_of_process(pid_t pid, std::string_view file) {
  std::ifstream in(format_text("/proc/{}/{}", pid, file), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// proc(5), "stat": the name may hold anything, so fields are counted behind its last parenthesis.
Process look_at_process(pid_t pid) {
  const auto text = text_of_process(pid, "stat");
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string field;
  Process process;
  for (int number = 3; fields >> field && number <= 22; ++number) {
    if (number == 4) process.parent = static_cast<pid_t>(std::atoi(field.c_str()));
    if (number == 22) process.started = field;
  }
  return process;
}

bool descends_from(pid_t pid, pid_t ancestor) {
  for (int i = 0; i < kMostGenerations && pid > 1; ++i) {
    if (pid == ancestor) return true;
    pid = look_at_process(pid).parent;
  }
  return false;
}

}  // namespace forebay
