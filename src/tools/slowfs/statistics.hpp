// Counts what reached the file system, by kind of request. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace forebay::slowfs {

enum class Kind : size_t { Read, Write, Fsync, Open, Close, Lookup, Query, Change };
inline constexpr std::array<std::string_view, 8> kKindNames = {"read",  "write",  "fsync", "open",
                                                               "close", "lookup", "query", "change"};

class Statistics {
 public:
  void begin(Kind kind);
  // `bytes` carried; `error` is the errno value answered, or 0.
  void end(Kind kind, uint64_t bytes, int error);
  // What is in flight stays counted as such.
  void reset();
  // One JSON object on one line.
  std::string to_json() const;

 private:
  struct Counts {
    uint64_t requests = 0;
    uint64_t bytes = 0;
    uint64_t errors = 0;
    uint64_t in_flight = 0;
    uint64_t max_in_flight = 0;
  };

  mutable std::mutex mutex_;
  std::array<Counts, kKindNames.size()> counts_;
};

}  // namespace forebay::slowfs
