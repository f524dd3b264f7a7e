#include "os/memory_room.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

namespace forebay {
namespace {

constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr auto kMoment = std::chrono::seconds(5);

using Clock = std::chrono::steady_clock;
constinit std::atomic<std::uint64_t> last_room = 0;
constinit std::atomic<Clock::rep> last_asked = 0;

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // not there, or the word "max"
}

// The value after the first word `key`, 0 if there is none.
std::uint64_t field_in(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t value = 0;
    if (words >> word >> value && word == key) return value;
  }
  return 0;
}

struct Names {
  const char* limit;
  const char* used;
  const char* inactive;
  const char* active;
};
constexpr Names kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                          "total_active_file"};
constexpr Names kVersion2{"memory.max", "memory.current", "inactive_file", "active_file"};

std::uint64_t group_room(const std::string& folder, const Names& names) {
  const auto limit = number_in(folder + "/" + names.limit);
  const auto used = number_in(folder + "/" + names.used);
  if (!limit || !used) return kUnlimited;
  const auto statistics = folder + "/memory.stat";
  const auto droppable = field_in(statistics, names.inactive) + field_in(statistics, names.active);
  const auto held = *used > droppable ? *used - droppable : 0;
  return *limit > held ? *limit - held : 0;
}

// The group itself and every one above it.
std::uint64_t path_room(const std::string& root, std::string path, const Names& names) {
  auto room = group_room(root, names);
  while (path.size() > 1) {
    room = std::min(room, group_room(root + path, names));
    path.resize(path.find_last_of('/'));
  }
  return room;
}

}  // namespace

std::uint64_t memory_room(const MemoryFiles& files) {
  auto room = kUnlimited;
  if (const auto available = field_in(files.proc + "/meminfo", "MemAvailable:"); available != 0) {
    room = available * 1024;
  }
  // Lines are "number:controllers:path"; version 2 has no controllers.
  std::ifstream groups(files.proc + "/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const auto path = line.substr(second + 1);
    if (path.empty() || path[0] != '/') continue;
    if (controllers == ",,") {
      room = std::min({room, path_room(files.cgroup, path, kVersion2),
                       path_room(files.cgroup + "/unified", path, kVersion2)});
    } else if (controllers.find(",memory,") != std::string::npos) {
      room = std::min(room, path_room(files.cgroup + "/memory", path, kVersion1));
    }
  }
  last_room.store(room, std::memory_order_relaxed);
  last_asked.store(Clock::now().time_since_epoch().count(), std::memory_order_release);
  return room;
}

bool take_recent_memory_room(std::uint64_t bytes, std::uint64_t rest) {
  const auto asked = last_asked.load(std::memory_order_acquire);
  if (asked == 0 || Clock::now() - Clock::time_point(Clock::duration(asked)) > kMoment) return false;
  auto room = last_room.load(std::memory_order_relaxed);
  do {
    if (room < rest || room - rest < bytes) return false;
  } while (!last_room.compare_exchange_weak(room, room - bytes, std::memory_order_relaxed));
  return true;
}

}  // namespace forebay
