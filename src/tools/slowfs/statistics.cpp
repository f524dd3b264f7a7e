#include "tools/slowfs/statistics.hpp"

#include <algorithm>

#include "base/format.hpp"

namespace forebay::slowfs {

void Statistics::begin(Kind kind) {
  const std::scoped_lock lock(mutex_);
  Counts& counts = counts_[static_cast<size_t>(kind)];
  ++counts.in_flight;
  counts.max_in_flight = std::max(counts.max_in_flight, counts.in_flight);
}

void Statistics::end(Kind kind, uint64_t bytes, int error) {
  const std::scoped_lock lock(mutex_);
  Counts& counts = counts_[static_cast<size_t>(kind)];
  --counts.in_flight;
  ++counts.requests;
  counts.bytes += bytes;
  counts.errors += error != 0 ? 1 : 0;
}

void Statistics::reset() {
  const std::scoped_lock lock(mutex_);
  for (Counts& counts : counts_) {
    counts = Counts{.in_flight = counts.in_flight, .max_in_flight = counts.in_flight};
  }
}

std::string Statistics::to_json() const {
  const std::scoped_lock lock(mutex_);
  std::string json = "{";
  for (size_t kind = 0; kind < counts_.size(); ++kind) {
    const Counts& counts = counts_[kind];
    const uint64_t carried = counts.requests - counts.errors;
    json += format_text(
        R"({}"{}":{{"requests":{},"bytes":{},"errors":{},"mean_size":{},"in_flight":{},"max_in_flight":{}}})",
        kind == 0 ? "" : ",", kKindNames[kind], counts.requests, counts.bytes, counts.errors,
        carried == 0 ? 0 : counts.bytes / carried, counts.in_flight, counts.max_in_flight);
  }
  return json + "}\n";
}

}  // namespace forebay::slowfs
