// The write path: taking bytes into a bucket.
//
// put() returns when the bytes are where no death of a process can lose them: staged in a bucket, or home.
// Thread-safe.
#pragma once

#include <memory>
#include <span>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/core.hpp"
#include "engine/drainer.hpp"
#include "engine/mover.hpp"
#include "policy/placement.hpp"

namespace forebay {

class Stager {
 public:
  Stager(Core& core, Drainer& drainer, Mover& mover)
      : core_(core), drainer_(drainer), mover_(mover), drain_(core) {}

  // Straight home: of a block that nothing is buffered of. Others are staged in any case.
  enum class Way { kStaged, kStraightHome };
  // Takes `length` bytes for offset `at` of a block.
  Status put(const std::shared_ptr<HomeFile>& home, const FileSettings& settings, std::uint64_t block,
             std::uint32_t at, const std::byte* data, std::uint32_t length, Way way = Way::kStaged);

  // Takes a range, block by block; how much was taken if something went wrong after the first block.
  Result<std::uint64_t> put_range(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                                  std::uint64_t offset, std::span<const std::byte> data,
                                  Way way = Way::kStaged);

  // A bucket for `key` in a mapped tier, evicting what may be forgotten. ENOBUFS: none without waiting.
  Result<std::uint32_t> bucket_for(Key key, const FileSettings& settings);

 private:
  [[nodiscard]] PlacementOrder tiers_for(Key key, const FileSettings& settings) const;
  enum class Outcome {
    kStaged,
    kAgain,  // the bucket went away
    kNoRoom,
    kFragmented,  // no room to note so many pieces
    kNotMapped,
    kBusy,  // being written straight home
    kTruncating,
  };
  Result<Outcome> try_put(const FileSettings& settings, Key key, std::uint32_t at, const std::byte* data,
                          std::uint32_t length);
  Status wait_for_room(std::uint32_t seen) const;
  Status straight_home(const HomeFile& home, Key key, std::uint32_t at, const std::byte* data,
                       std::uint32_t length, bool& done);

  Core& core_;
  Drainer& drainer_;
  Mover& mover_;
  Drain drain_;
};

}  // namespace forebay
