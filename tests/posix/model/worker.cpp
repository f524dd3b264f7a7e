#include "model/worker.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "model/call.hpp"

namespace model {

std::array<int, kSlots> slots = [] {
  std::array<int, kSlots> none{};
  none.fill(-1);
  return none;
}();
std::array<FILE*, kStreams> streams{};

bool executes = false;

std::string slots_to_words() {
  std::string words;
  for (const int fd : slots) words += std::to_string(fd) + " ";
  return words;
}

void slots_from_words(const char* words) {
  for (auto& fd : slots) {
    char* end = nullptr;
    fd = static_cast<int>(std::strtol(words, &end, 10));
    // Not what was to be closed.
    if (fd >= 0 && ::fcntl(fd, F_GETFD) < 0) fd = -1;
    words = end;
  }
}

int Call::slot() {
  const auto n = static_cast<int>(next() % kSlots);
  words += " slot" + std::to_string(n);
  return n;
}

FILE*& Call::stream() {
  const auto n = next() % kStreams;
  words += " stream" + std::to_string(n);
  return streams[n];
}

std::string Call::name() {
  const auto n = next();
  auto text = (n % 9 == 0 ? "d/f" : "f") + std::to_string(n / 9 % kFiles);
  words += " " + text;
  return text;
}

std::size_t Call::length() {
  const auto n = next();
  const std::size_t size = n % 7 == 0 ? 0 : n % 3 == 0 ? n % kMost : n % 600;
  words += " length " + std::to_string(size);
  return size;
}

off_t Call::offset() {
  const auto n = next();
  const off_t to = n % 11 == 0 ? -1 : static_cast<off_t>(n % 5 == 0 ? n % kReach : n % 9000);
  words += " offset " + std::to_string(to);
  return to;
}

std::uint64_t hash(const void* data, std::size_t size) {
  std::uint64_t h = 1469598103934665603ULL;
  for (std::size_t i = 0; i < size; ++i)
    h = (h ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ULL;
  return h;
}

std::vector<char> bytes(std::uint32_t seed, std::size_t size) {
  std::vector<char> all(size + 1);
  for (auto& c : all) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return all;
}

std::string said(long result) {
  return " = " + std::to_string(result) + (result < 0 ? " errno " + std::to_string(errno) : "");
}

std::string got(long result, const std::vector<char>& data) {
  auto text = said(result);
  if (result > 0) text += " hash " + std::to_string(hash(data.data(), static_cast<std::size_t>(result)));
  return text;
}

namespace {

const std::vector<Named>& table() {
  static const auto all = [] {
    std::vector<Named> made;
    for (const auto group : {transfers(), descriptors(), names(), streams_of_files(), processes()})
      made.insert(made.end(), group.begin(), group.end());
    return made;
  }();
  return all;
}

}  // namespace

unsigned operations() { return static_cast<unsigned>(table().size()); }

std::string carry_out(const Order& order) {
  const auto& named = table()[order.operation % table().size()];
  Call call{.order = order, .words = named.name};
  std::string result;
  // Some by a thread of their own.
  if (order.random[5] % 8 == 0) {
    std::thread([&] { result = named.operation(call); }).join();
  } else {
    result = named.operation(call);
  }
  return call.words + result;
}

std::string finish() {
  std::string text = "end";
  for (const int fd : slots) text += fd < 0 ? "" : said(::close(fd));
  for (auto* const stream : streams) text += stream == nullptr ? "" : said(::fclose(stream));
  return text;
}

}  // namespace model
