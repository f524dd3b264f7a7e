#include "door/native/last_error.hpp"

#include <algorithm>
#include <array>

namespace forebay::native {
namespace {

constexpr std::string_view kCut = " ...";

constinit thread_local std::array<char, 1024> words_of_thread{};

}  // namespace

void set_last_error(std::string_view words) {
  const auto room = words_of_thread.size() - 1;
  const bool cut = words.size() > room;
  auto* end = std::ranges::copy(words.substr(0, cut ? room - kCut.size() : room), words_of_thread.data()).out;
  if (cut) end = std::ranges::copy(kCut, end).out;
  *end = '\0';
}

const char* last_error() { return words_of_thread.data(); }

}  // namespace forebay::native
