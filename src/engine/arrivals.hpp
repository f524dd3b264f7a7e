// Blocks that are under way from home to their buckets: whoever else wants one waits for it instead of asking
// home again, in this process or another.
//
// A hint in the bucket's flags, kept by nobody's lock: a mark that is lost costs home a second request, one
// that a dead process left is seen through. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/bucket_table.hpp"
#include "engine/core.hpp"

namespace forebay {

class Arrivals {
 public:
  explicit Arrivals(const Core& core) : core_(core) {}

  // Is the caller to bring it? Then it says end() afterwards. False: somebody living is bringing it.
  [[nodiscard]] bool begin(std::uint32_t bucket) const;
  void end(std::uint32_t bucket) const;

  // Returns when nobody brings the block (any more), at the latest after `patience`. Was there something to
  // wait for?
  bool wait(Key key, std::chrono::nanoseconds patience) const;

 private:
  [[nodiscard]] bool living(std::uint32_t mark) const;

  const Core& core_;
};

}  // namespace forebay
