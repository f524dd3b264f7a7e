// What doors left to home, by reason: counted for everybody on the node, for `forebay status`.
//
// A reason is a short text. Its place in the shared table is taken by whoever names it first; one who dies
// meanwhile leaves a place that nobody uses. Reasons beyond the table are counted together in its last place.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout.hpp"

namespace forebay {

struct Passed {
  std::string why;
  std::uint64_t times = 0;
};

// Those of a buffer, most frequent first. Damaged entries are left out.
[[nodiscard]] std::vector<Passed> passed_of(const PassedTable& table);

// Counts for one process. Thread-safe.
class PassedNotes {
 public:
  explicit PassedNotes(PassedTable& table) : table_(table) {}
  void note(std::string_view why);
  // What this process noted.
  [[nodiscard]] std::vector<Passed> own() const;

 private:
  PassedTable& table_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> own_;  // guarded by mutex_
};

}  // namespace forebay
